"""Keys stay where they are: what is taken out of texts before they reach a store, or an error."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from fairfield.core.writing.terminal import shown

_NAMES = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
# What stands before a key in headers, addresses and dictionaries; and a key, which is long or has a
# digit and a letter, as "the bearer throughout", "key: persistence" and "tokens: 128000" have not.
# After "key:" alone, which may be that of a dictionary, it is long.
_QUOTED = r"\\?['\"]?"
_TEXTS = re.compile(
    rf"((?:bearer|basic|authorization: token)\s+|\bsk-|(?:[_-](?:key|token)|secret|password){_QUOTED}"
    rf"\s*[=:]\s*{_QUOTED}|(?:key|token)(?:\s*=\s*{_QUOTED}"
    rf"|{_QUOTED}\s*:\s*{_QUOTED}(?=[\w.~+/=%-]{{16}})))"
    r"(?:(?=[\w.~+/%-]*\d)(?=[\w.~+/%-]*[a-z])[\w.~+/=%-]{6,}|[\w.~+/=%-]{16,})",
    re.IGNORECASE,
)
# Names whose numbers are keys as well; those of "max_tokens" and "keys" are not.
_NAMED = re.compile(
    r"(?:(?:api|access|auth|private)[_-]?(?:key|token)|secret|password)$", re.IGNORECASE
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
        return {
            _cleaned(str(key), secrets): "[secret]" if _is_key(key, each) else _plain(each, secrets)
            for key, each in record.items()
        }
    if isinstance(record, list | tuple | set | frozenset):
        return [_plain(each, secrets) for each in record]
    text = str(record)
    cleaned = _cleaned(text, secrets)
    # A number stays one, unless it is a key.
    as_it_is = record is None or isinstance(record, bool | int | float)
    return record if as_it_is and cleaned == text else cleaned


def _is_key(name: Any, text: Any) -> bool:
    """Whether this is a key by its name, as {"x-api-key": …} has it."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        return _NAMED.search(str(name)) is not None
    found = _TEXTS.search(f"{name}: {text}") if isinstance(text, str) else None
    return found is not None and found.start() < len(str(name)) and found.end() == found.endpos


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
    notes = [str(getattr(each, "__notes__", "")) for each in seen]
    texts = [*notes, *(_said(each, how) for each in seen for how in (str, repr))]
    safe = all(without_secrets(each) == each for each in texts)
    text = f"{type(error).__name__}: {_said(error, str)}"
    # On one line, as every message is.
    return shown(" ".join(without_secrets(text).split())), error if safe else None


def _said(error: BaseException, how: Callable[[BaseException], str]) -> str:
    """The text of an error; nothing where its own class fails to make one."""
    try:
        return how(error)
    except Exception:
        return ""
