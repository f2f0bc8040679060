"""Text from others, as it may be shown in a terminal."""

from __future__ import annotations

import re

# Control characters of all kinds, with which text could move the cursor, change colours or the
# title of a terminal, or be read in another order than it is written.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def shown(text: object) -> str:
    """The text on one line, with control characters as the escapes that Python writes for them.

    >>> print(shown("a\\x1b[31mb\\n"))
    a\\x1b[31mb\\n
    """
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], str(text))
