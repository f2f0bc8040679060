"""Text from others, as it may be shown in a terminal or written to a file that is shown in one."""

from __future__ import annotations

import json
import re

# Control characters of all kinds, with which text could move the cursor, change colours or the
# title of a terminal, or be read in another order than it is written.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def shown(text: object) -> str:
    """The text on one line, with control characters as the escapes that Python writes for them.

    >>> print(shown("a\\x1b[31mb\\n"))
    a\\x1b[31mb\\n
    """
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], str(text))


def shown_json(text: str) -> str:
    """JSON without such characters in its strings: written as escapes, they are read as they were.

    >>> print(shown_json('["\x9b2J"]'))
    ["\\u009b2J"]
    """
    # Outside of strings JSON has no other control characters than those of its layout, and
    # inside of them none of these.
    return _CONTROL.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[0] in "\n\r\t" else json.dumps(found[0])[1:-1]
