"""Draws the pictures of docs/gallery.md from the code on that page.

Run with ``python docs/draw_gallery.py``, and look at what it wrote.
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt

PAGE = Path(__file__).with_name("gallery.md")
# A block of code, and the picture that follows it, if there is one.
BLOCK = re.compile(r"```python\n(.*?)```\n(?:!\[[^]]*\]\(([^)]+)\))?", re.DOTALL)


def main() -> None:
    names: dict[str, object] = {"__name__": "gallery"}
    for code, picture in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        exec(compile(code, PAGE.name, "exec"), names)
        if picture:
            axes = names["ax"]
            axes.figure.savefig(PAGE.parent / picture, dpi=72, pil_kwargs={"optimize": True})
            plt.close("all")


if __name__ == "__main__":
    main()
