"""Keys stay where they are: what is taken out of texts before they reach a store, or an error."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

_NAMES = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
# What stands before a key in headers, addresses and dictionaries; and a key, which has a digit and a
# letter, as "the bearer throughout", "key: persistence" and "tokens: 128000" have not.
_TEXTS = re.compile(
    r"((?:bearer|basic)\s+|\bsk-|(?:key|token|secret|password)['\"]?\s*[=:]\s*['\"]?)"
    r"(?=[\w.~+/-]*\d)(?=[\w.~+/-]*[a-z])[\w.~+/=-]{6,}",
    re.IGNORECASE,
)


def without_secrets(text: str) -> str:
    """The text without keys: values of environment variables named so, and what looks like one."""
    return _cleaned(text, _secrets())


def plain(record: Any) -> Any:
    """A record as data that JSON can hold, without keys; what is no such data is its text.

    >>> plain({"answer": "yes", 1: (True, None), "at": {2.5}})
    {'answer': 'yes', '1': [True, None], 'at': [2.5]}
    """
    return _plain(record, _secrets())


def _secrets() -> list[str]:
    """Values to take out, also as an address has them; one that begins with another goes first."""
    found = {each for name, each in os.environ.items() if len(each) >= 8 and _NAMES.search(name)}
    return sorted(found | {quote(each, safe="") for each in found}, key=len, reverse=True)


def _cleaned(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "[secret]")
    return _TEXTS.sub(r"\1[secret]", text)


def _plain(record: Any, secrets: list[str]) -> Any:
    if isinstance(record, Mapping):
        return {_cleaned(str(key), secrets): _plain(each, secrets) for key, each in record.items()}
    if isinstance(record, list | tuple | set | frozenset):
        return [_plain(each, secrets) for each in record]
    text = str(record)
    cleaned = _cleaned(text, secrets)
    # A number stays one, unless it is a key.
    as_it_is = record is None or isinstance(record, bool | int | float)
    return record if as_it_is and cleaned == text else cleaned


def without_keys(error: BaseException) -> tuple[str, BaseException | None]:
    """What an error says, without keys; and itself, to be chained, unless it would show one.

    So would those behind it, which a traceback shows too.
    """
    seen: list[BaseException] = []
    behind: list[BaseException | None] = [error]
    while behind:
        each = behind.pop()
        if each is not None and each not in seen:
            seen.append(each)
            behind += [each.__cause__, each.__context__, *getattr(each, "exceptions", ())]
    shown = [f"{each} {each!r} {getattr(each, '__notes__', '')}" for each in seen]
    safe = all(without_secrets(text) == text for text in shown)
    return without_secrets(f"{type(error).__name__}: {error}"), error if safe else None
