"""Currencies by their letters, as the numbers of ISO 4217 that the preference `currency` holds."""

CURRENCIES = {
    "AED": 784, "ARS": 32, "AUD": 36, "BDT": 50, "BGN": 975, "BRL": 986, "CAD": 124, "CHF": 756, "CLP": 152, "CNY": 156,
    "COP": 170, "CZK": 203, "DKK": 208, "EGP": 818, "EUR": 978, "GBP": 826, "HKD": 344, "HUF": 348, "IDR": 360,
    "ILS": 376, "INR": 356, "ISK": 352, "JPY": 392, "KES": 404, "KRW": 410, "LKR": 144, "MAD": 504, "MXN": 484,
    "MYR": 458, "NGN": 566, "NOK": 578, "NPR": 524, "NZD": 554, "PEN": 604, "PHP": 608, "PKR": 586, "PLN": 985,
    "RON": 946, "RSD": 941, "RUB": 643, "SAR": 682, "SEK": 752, "SGD": 702, "THB": 764, "TRY": 949, "TWD": 901,
    "UAH": 980, "USD": 840, "UYU": 858, "VND": 704, "ZAR": 710,
}  # fmt: skip
_LETTERS = {number: letters for letters, number in CURRENCIES.items()}


def letters(number: int) -> str:
    """`EUR` for 978; the number itself for one that is not listed."""
    return _LETTERS.get(number, str(number))


def number(text: str) -> int | None:
    """978 for `EUR`, in letters of any size; numbers are taken as they are. None: no such currency."""
    plain = text.strip()
    return int(plain) if plain.isdecimal() and len(plain) <= 18 else CURRENCIES.get(plain.upper())
