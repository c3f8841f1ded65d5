"""Currencies by their letters in ISO 4217."""

CURRENCIES = (
    "AED", "ARS", "AUD", "BDT", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP",
    "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KES", "KRW", "LKR", "MAD", "MXN",
    "MYR", "NGN", "NOK", "NPR", "NZD", "PEN", "PHP", "PKR", "PLN", "RON", "RSD", "RUB", "SAR", "SEK",
    "SGD", "THB", "TRY", "TWD", "UAH", "USD", "UYU", "VND", "ZAR",
)  # fmt: skip
