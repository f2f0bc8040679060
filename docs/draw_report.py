"""Draws the pictures of docs/report.md and of the README: pages of ``ff.report`` in a browser.

Run with ``python docs/draw_report.py``; it needs chromium or chrome on PATH and the test extra.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import fairfield as ff
from fairfield.cli.commands.demo import demo

IMAGES = Path(__file__).with_name("images")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Colours of a picture: enough for flat areas and text, a third of the size.
COLOURS = 128
MOST_HEIGHT = 1350


def many() -> ff.Game:
    """Two thousand players, to see that a page stays a page."""
    rng = np.random.default_rng(3)
    bonds = np.triu(rng.standard_normal((2000, 2000)) / 50, 1)
    names = [f"vendor {i:04d}" for i in range(2000)]
    return ff.PairwiseGame(rng.standard_normal(2000), bonds + bonds.T, players=names)


def main() -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit("no chromium or chrome is on PATH; install one")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as engine:
        folder = Path(name)
        demo(out=folder)
        game = many()
        ff.report(ff.compare(game), folder / "many.html", annealing=ff.annealing(game))
        pages = {
            "report": ("report", "light"),
            "report-dark": ("report", "dark"),
            "report-features": ("features", "light"),
            "report-many": ("many", "light"),
        }
        chrome = engine.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for picture, (path, scheme) in pages.items():
            shown = chrome.new_page(
                viewport={"width": 1280, "height": 2000},
                color_scheme=scheme,
                device_scale_factor=1.25,
            )
            shown.goto((folder / f"{path}.html").as_uri())
            shown.wait_for_selector("html[data-ready=yes]")
            shown.wait_for_timeout(1500)  # until all that is in view is drawn
            # Down to the end of the first row of charts.
            box = shown.locator(".grid section:visible").first.bounding_box()
            bottom = min(box["y"] + box["height"] + 20, MOST_HEIGHT)
            file = IMAGES / f"{picture}.png"
            shown.screenshot(path=file, clip={"x": 0, "y": 0, "width": 1280, "height": bottom})
            shown.close()
            Image.open(file).quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
            print(file, f"{file.stat().st_size / 1000:.0f} kB")
        chrome.close()


if __name__ == "__main__":
    main()
