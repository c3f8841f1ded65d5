"""How many of a thing: 1 sample, 48 210 samples."""

from app.text.formats.numbers import count
from app.text.i18n import trn


def epochs(number: int) -> str:
    return trn("1 epoch", "{n} epochs", number, n=count(number))


def hours(number: int) -> str:
    return trn("1 hour", "{n} hours", number, n=count(number))


def peers(number: int) -> str:
    return trn("1 peer", "{n} peers", number, n=count(number))


def rounds(number: int) -> str:
    return trn("1 round", "{n} rounds", number, n=count(number))


def samples(number: int) -> str:
    return trn("1 sample", "{n} samples", number, n=count(number))


def sessions(number: int) -> str:
    return trn("1 session", "{n} sessions", number, n=count(number))


def threads(number: int) -> str:
    return trn("1 thread", "{amount} threads", number, amount=count(number))
