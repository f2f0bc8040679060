"""The page in a real browser: what moves, sorts and is announced; no request leaves it."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

import fairfield as ff
import pictures
from conftest import REQUIRED, needs
from fairfield.learning import Scores, ScoreTable
from fairfield.reports.page import embedded, html
from fairfield.reports.plain import csv
from fairfield.reports.plain import json as as_json
from fairfield.reports.summarise import summarise
from fairfield.results.words import Words

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
NAMES = ["ann", "<script>alert(1)</script>", "</script><!--", "joe & co", "a long " * 12]


@pytest.fixture(scope="module")
def browser():
    playwright = needs("playwright.sync_api", "browser")
    pytest.importorskip("plotly")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        if "browser" in REQUIRED:
            pytest.fail("no chromium or chrome is on PATH, and FAIRFIELD_REQUIRE asks for one")
        pytest.skip("no chromium or chrome is on PATH")
    with playwright.sync_playwright() as engine:
        # No sandbox: containers seldom let a browser make its own.
        chrome = engine.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chrome
        chrome.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Pages of five, of 2000 players, of a batch, and of one player by one criterion."""
    pytest.importorskip("plotly")
    folder = tmp_path_factory.mktemp("reports")
    rng = np.random.default_rng(3)

    five = ff.TableGame(rng.random(32) + np.arange(32) / 40, players=NAMES)

    def steps(problem):
        return ff.variational_values(problem, 6)

    found = ff.compare(five, temperature=0.1, criteria=["variational_index", "shapley", steps])
    ff.report(
        found,
        folder / "five.html",
        annealing=ff.annealing(five),
        interactions=ff.interactions(five),
        curves=ff.removal_curve(five, found["shapley"]),
    )
    (folder / "five.csv").write_text(csv(summarise(found)), encoding="utf-8")

    pairs = np.triu(rng.standard_normal((2000, 2000)) / 50, 1)
    many = ff.PairwiseGame(
        rng.standard_normal(2000), pairs + pairs.T, players=[f"vendor {i:04d}" for i in range(2000)]
    )
    both = ff.compare(many, criteria=["variational_index", "banzhaf"])
    errors = {name: replace(v, stderr=np.full(2000, 0.1)) for name, v in both.items()}
    ff.report(
        ff.Comparison(errors), folder / "many.html", annealing=ff.annealing(many, [0.2, 1.0, 5.0])
    )

    rows = ff.TableGame(rng.standard_normal((4, 8)), players=["age", "sex", "pay"])
    rows.info = ff.GameInfo(data=rng.integers(0, 9, (4, 3)))
    ff.report(ff.compare(rows), folder / "batch.html", title="Pay & <b>age</b>")

    words = Words("feature", "row", "log-odds of class <b>", "log-odds")
    explained = {
        name: replace(v, words=words, game="TreeGame") for name, v in ff.compare(rows).items()
    }
    together = replace(ff.interactions(rows), words=words)
    path = ff.annealing(rows)
    ff.report(
        ff.Comparison(explained), folder / "features.html", annealing=path, interactions=together
    )

    every = pictures.ClassesGame(len, players=["age", "sex", "pay"])
    ff.report(ff.shapley(every), folder / "outputs.html", interactions=ff.interactions(every))
    (folder / "outputs.csv").write_text(csv(summarise(ff.shapley(every))), encoding="utf-8")

    ff.report(ff.leave_one_out([0.0, 2.0]), folder / "lean.html")

    scores = {
        "<b>pairs</b>": Scores(-9.54, 0.12, 80.4, 0.4, None, None),
        "independent players": Scores(-10.15, 0.12, 70.2, 0.5, None, None),
    }
    ff.report(
        ff.shapley([0.0, 1, 2, 5]),
        folder / "learned.html",
        scores=ScoreTable(scores, "on 40 observed coalitions"),
    )
    return folder


@pytest.fixture
def visit(browser, reports):
    """Opens a report and fails, at the end, on any console message, error or request."""
    complaints, contexts = [], []

    def heard(kind, message):
        complaints.append(f"{kind}: {message}")

    def go(name, **options):
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        address = (reports / f"{name}.html").as_uri()
        page.on("console", lambda message: heard("console", message.text))
        page.on("pageerror", lambda error: heard("error", error))
        page.on("dialog", lambda dialog: (heard("dialog", dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                None
                if request.url == address or request.url.startswith(("blob:", "data:"))
                else heard("request", request.url)
            ),
        )
        page.goto(address)
        page.wait_for_selector("html[data-ready=yes]")
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []


def soon(locator):
    """Expectations that wait until they hold."""
    from playwright.sync_api import expect

    return expect(locator)


def names(page):
    return page.locator("#table tbody th").all_inner_texts()


def column(page, head):
    """The numbers of a column, as they are shown."""
    heads = [
        text.split(" ▾")[0].strip() for text in page.locator("#table thead th").all_inner_texts()
    ]
    cells = page.locator(f"#table tbody td:nth-child({heads.index(head) + 1})").all_inner_texts()
    return [float(cell.replace("−", "-").replace("≈", "")) for cell in cells]


def bars(page):
    return page.eval_on_selector_all(
        "#table .bar .value", "found => found.map(bar => bar.style.width)"
    )


def slide_to(page, stop):
    page.eval_on_selector(
        "#temperature",
        "(slider, stop) => { slider.value = stop; slider.dispatchEvent(new Event('input')); }",
        stop,
    )


def test_every_part_is_there_and_names_are_text(visit):
    page = visit("five")
    assert sorted(names(page)) == sorted(name.strip() for name in NAMES)
    page.set_viewport_size({"width": 1280, "height": 4000})
    soon(page.locator("#curves svg.main-svg")).not_to_have_count(0)
    drawn = page.locator(".chart svg.main-svg").evaluate_all(
        "all => new Set(all.map(svg => svg.closest('.chart').id)).size"
    )
    assert drawn == 7  # all but the ranks, which a table of five does not need
    assert page.locator("script").count() == 4  # data, library, ours, and plotly unpacked
    pictures = page.locator(".chart").evaluate_all(
        "all => all.filter(e => !e.closest('section').hidden).map(e => e.textContent).join(' ')"
    )
    assert "<script>" in pictures


def test_the_slider_moves_bars_marginals_and_decoupling_error(visit):
    page = visit("five")
    error = page.locator("[data-fact='Decoupling error']")
    before = names(page), bars(page), column(page, "Marginal"), error.inner_text()
    slide_to(page, 21)
    assert page.locator("#temperature-shown").inner_text() != "T = 0.1"
    after = names(page), bars(page), column(page, "Marginal"), error.inner_text()
    assert before[1] != after[1]
    assert before[2] != after[2]
    assert before[3] != after[3]
    assert max(abs(x - 0.5) for x in after[2]) < max(abs(x - 0.5) for x in before[2])
    page.locator("#temperature-own").click()
    assert (names(page), bars(page), column(page, "Marginal"), error.inner_text()) == before


def test_the_slider_shows_the_numbers_of_the_path(visit):
    page = visit("five")
    game = ff.TableGame(np.random.default_rng(3).random(32) + np.arange(32) / 40, players=NAMES)
    path = ff.annealing(game)
    slide_to(page, 0)
    shown = dict(zip(names(page), column(page, "Variational index"), strict=True))
    for name, value in zip(NAMES, path.values()[-1], strict=True):
        assert abs(shown[name.strip()] - value) < 6e-4


def test_heads_of_columns_sort(visit):
    page = visit("five")
    values = column(page, "Variational index")
    assert values == sorted(values, reverse=True)
    head = page.get_by_role("button", name="Shapley", exact=True)
    head.click()
    values = column(page, "Shapley")
    assert values == sorted(values, reverse=True)
    sorted_by = page.locator("#table th[aria-sort=descending]")
    assert sorted_by.inner_text().startswith("Shapley")
    head.click()
    assert column(page, "Shapley") == sorted(values)
    page.get_by_role("button", name="Player", exact=True).click()
    assert names(page)[-1] == "joe & co"


def test_the_switch_changes_the_criterion_by_keyboard_alone(visit):
    page = visit("five")
    first = page.locator("#criteria input").first
    first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#lead").inner_text().startswith("By Shapley at T = 0.1, ")
    shapley = column(page, "Shapley")
    assert shapley == sorted(shapley, reverse=True)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "temperature"
    before = column(page, "Marginal")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert column(page, "Marginal") != before
    # What changed is also announced.
    soon(page.locator("#announcement")).to_contain_text("Shapley at T = ")


def test_every_control_and_picture_has_a_name(visit):
    page = visit("batch")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the values"
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select')]
            .filter(e => !e.textContent.trim() && !e.getAttribute('aria-label') && !(e.labels && e.labels.length))
            .map(e => e.outerHTML)"""
    )
    assert nameless == []
    silent = page.evaluate(
        """() => [...document.querySelectorAll('section:not([hidden]) .chart')]
            .filter(e => e.getAttribute('role') !== 'img' || !e.getAttribute('aria-label')).map(e => e.id)"""
    )
    assert silent == []
    assert page.locator("#table caption").inner_text()


def test_a_row_can_be_picked(visit):
    page = visit("batch")
    assert "mean of 4 games" in page.locator("#waterfall").get_attribute("aria-label")
    mean = column(page, "Variational index")
    page.get_by_role("button", name="Next game").click()
    assert page.locator("#row").input_value() == "1"
    assert column(page, "Variational index") != mean
    assert len(column(page, "In the data")) == 3
    soon(page.locator("#waterfall-part figcaption")).to_contain_text("game 0: ")
    # What the values leave is hatched.
    page.locator("#waterfall").scroll_into_view_if_needed()
    soon(page.locator("#waterfall pattern")).to_have_count(1)
    page.locator("#row").select_option("game 3")
    assert page.locator("#row-after").is_disabled()


def test_all_rows_and_one_feature_are_drawn_as_dots(visit):
    page = visit("batch")
    assert page.locator("#title").inner_text() == "Pay & <b>age</b>"
    page.set_viewport_size({"width": 1280, "height": 3000})
    soon(page.locator("#swarm .point")).to_have_count(12)  # 4 rows of 3
    soon(page.locator("#swarm-part figcaption")).to_contain_text("A dot per game, players by their")
    soon(page.locator("#dependence .point")).to_have_count(4)
    page.locator("#along-player").select_option(label="pay")
    soon(page.locator("#dependence-part figcaption")).to_contain_text("pay in the data")
    assert "variational index of pay" in page.locator("#dependence").inner_text()


def test_an_output_can_be_picked(visit, reports):
    page = visit("outputs")
    means = pictures.classes()
    for at, name in enumerate(("low", "class 7")):
        page.locator("#row").select_option(f"mean of 3 rows, {name}")
        sizes = sorted(abs(means.values).mean(axis=0)[at])
        assert sorted(column(page, "Mean |value|")) == pytest.approx(sizes, abs=1e-2)
    page.locator("#row").select_option("w, low")
    assert "Mean |value|" not in page.locator("#table thead").inner_text()
    with page.expect_download() as saved:
        page.locator("#save-csv").click()
    theirs = saved.value.path().read_text(encoding="utf-8").splitlines()
    ours = (reports / "outputs.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[:3] for line in theirs] == [line.split(",")[:3] for line in ours]


def test_explanations_speak_of_features_rows_and_units(visit):
    page = visit("features")
    page.set_viewport_size({"width": 1280, "height": 4000})
    soon(page.locator("#interactions svg.main-svg")).not_to_have_count(0)
    caption = page.locator("#interactions-part figcaption")
    soon(caption).to_contain_text("The mean |Shapley interaction| of all rows: ")
    text = page.locator("body").inner_text()
    assert not re.search(r"player|worth|\bgames?\b", text, re.IGNORECASE), text
    assert page.get_by_label("Find a feature").count() == 1
    sizes = column(page, "Mean |value|")
    assert len(sizes) == 3
    assert sizes == sorted(sizes, reverse=True)
    lead = page.locator("#lead").inner_text()
    assert re.search(r"(age|sex|pay) moves the log-odds of class <b> most \(mean .value. ", lead)
    page.get_by_role("button", name="Next row").click()
    soon(page.locator("#waterfall-part figcaption")).to_contain_text("row 0: no features = ")
    soon(caption).to_contain_text("Shapley interactions: blue where two features add more")
    assert "log-odds of class <b>, by variational index" in page.locator("#waterfall").inner_text()
    assert "(log-odds)" in page.locator("#path").inner_text()
    assert " adds most (" in page.locator("#lead").inner_text()
    page.locator("details summary").click()
    assert not re.search(r"player|worth", page.locator("details").inner_text(), re.IGNORECASE)


def test_a_page_with_hardly_anything_to_show(visit):
    page = visit("lean")
    assert page.locator("#lead").inner_text() == "By Leave one out, 0 is worth most (2)."
    assert page.locator(".grid section:visible").count() == 1  # the waterfall
    assert not page.locator("#temperature-control").is_visible()


def test_scores_of_a_learned_game_are_a_table(visit):
    page = visit("learned")
    assert "on 40 observed coalitions" in page.locator("#scores caption").inner_text()
    rows = page.locator("#scores tbody tr").all()
    assert [cell.inner_text() for cell in rows[0].locator("th, td").all()] == [
        "<b>pairs</b>", "−9.54 ± 0.12", "80.4 ± 0.4", "–",
    ]  # fmt: skip
    assert len(rows) == 2
    assert not visit("lean").locator("#scores-part").is_visible()


def test_two_thousand_players_come_page_by_page(visit):
    page = visit("many")
    assert len(names(page)) == 25
    assert page.locator("#page-shown").inner_text() == "1–25 of 2,000"
    first = names(page)
    page.locator("#page-after").click()
    assert not set(first) & set(names(page))
    page.get_by_label("Find a player").fill("vendor 0123")
    assert names(page) == ["vendor 0123"]
    page.get_by_label("Find a player").fill("")
    assert page.locator("#table .whisker:visible").count() == 25
    before = bars(page)
    slide_to(page, 0)
    assert bars(page) != before


def test_downloads_hold_what_a_report_writes(visit, reports):
    page = visit("five")
    with page.expect_download() as saved:
        page.locator("#save-csv").click()
    theirs = [
        line.split(",") for line in saved.value.path().read_text(encoding="utf-8").splitlines()
    ]
    ours = [
        line.split(",") for line in (reports / "five.csv").read_text(encoding="utf-8").splitlines()
    ]
    assert theirs[0] == ours[0]
    for mine, other in zip(ours[1:], theirs[1:], strict=True):
        assert mine[0] == other[0]
        assert [float(x) for x in mine[1:]] == [float(x) for x in other[1:]]
    with page.expect_download() as saved:
        page.locator("#save-json").click()
    held = json.loads(saved.value.path().read_text(encoding="utf-8"))
    assert json.loads(as_json(held))["players"] == NAMES
    assert len(held["temperatures"]["stops"]) == 22


def test_dark_follows_the_system_and_the_button(visit):
    page = visit("five", color_scheme="dark")

    def background():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    dark = background()
    assert page.locator("#theme").get_attribute("aria-pressed") == "true"
    page.locator("#theme").click()
    assert background() != dark
    assert page.locator("html").get_attribute("data-theme") == "light"


def test_a_narrow_screen_scrolls_only_downwards(visit):
    page = visit("five")
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_no_buttons_cover_pictures_where_nothing_hovers(visit):
    page = visit("five", has_touch=True, is_mobile=True)
    assert not page.evaluate("matchMedia('(hover: hover)').matches")
    soon(page.locator("figure .main-svg").first).to_be_attached()
    assert page.locator(".modebar-btn").count() == 0


def test_names_cannot_leave_the_data(game):
    pytest.importorskip("plotly")
    page = html(summarise(ff.compare(game)))
    assert "alert(1)</script>" not in page
    assert "<!--" not in page
    (held,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    names = list(game.players)
    assert json.loads(held)["players"] == names
    assert json.loads(embedded(names)) == names


def test_nothing_in_the_page_points_elsewhere(game):
    pytest.importorskip("plotly")
    page = html(summarise(ff.compare(game)))
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert "default-src 'none'" in page
    assert "unsafe-eval" not in page
