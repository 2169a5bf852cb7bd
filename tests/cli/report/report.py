#!/usr/bin/python3
"""The pages that --report writes, in a headless Chromium: what is on them, what moves, and what they ask for."""
import base64
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LAPEDGE = os.environ.get("LAPEDGE", str(ROOT / "lapedge"))
WRONG = str(ROOT / os.environ.get("B", "build") / "tests/lapedge-wrong")
MISSING = None
try:
    from browser import complaints, load, missing, open_browser, resize
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    MISSING = missing()
except ImportError as problem:
    MISSING = f"no {problem.name}"

HOSTILE = '<img src=x onerror=alert(1)> & "quotes" </script><script>alert(2)</script>.jpg'.replace("/", "\u2215")


def data_of(page):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))


def has_charts(page):
    return "Chart.js" in pathlib.Path(page).read_text(encoding="utf-8")


class Pages:
    """Every page once, in a folder that goes away."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        photo = self.folder / HOSTILE
        photo.write_bytes((ROOT / "samples/chelsea.jpg").read_bytes())
        self.bench = self.make(LAPEDGE, "bench", "--runs=3", "--sizes=320x200,64x48", "--backends=c,sse,simd,simd-avx2",
                               "filter", "matvec", "--n=256", "--threads=2")
        self.stats = self.make(LAPEDGE, "stats", "--profiles", photo)
        self.compare = self.make(WRONG, "compare", "--runs=1", "samples/chelsea.jpg", expect=None)
        album = self.folder / "album"
        (album / "deep").mkdir(parents=True)
        for name, sample in (("a.jpg", "chelsea.jpg"), ("deep/b.jpg", "coffee.jpg")):
            (album / name).write_bytes((ROOT / "samples" / sample).read_bytes())
        self.album = self.make(WRONG, "compare", "--runs=2", "--backends=c,off-by-one", album, expect=1)
        tiny = self.folder / "tiny.ppm"
        tiny.write_bytes(b"P6\n64 48\n255\n" + random.Random(5).randbytes(64 * 48 * 3))
        weights = ",".join(["0.1"] * 12 + ["-1.3"] + ["0.07"] * 12)
        self.lenses = [self.make(LAPEDGE, "stats", tiny, *words.split()) for words in
                       ("--border=zero", "--border=replicate --range=abs --scale=0.5 --offset=3", "--border=reflect --kernel=log5 --invert",
                        f"--border=reflect101 --kernel={weights} --range=abs --scale=0.7", "--border=wrap --threshold=90", "--border=constant:7")]
        self.shapes = []
        for width, height in ((30, 90), (300, 3), (1, 1)):
            shape = self.folder / f"{width}x{height}.ppm"
            shape.write_bytes(b"P6\n%d %d\n255\n" % (width, height) + random.Random(6).randbytes(width * height * 3))
            self.shapes.append(self.make(LAPEDGE, "stats", shape))
        other = self.folder / "other.jpg"
        subprocess.run([LAPEDGE, "--kernel=identity", "--quality=50", "samples/chelsea.jpg", other], cwd=ROOT, check=True)
        self.diff = self.make(LAPEDGE, "diff", "samples/chelsea.jpg", other, expect=1)
        self.tree = self.make(LAPEDGE, "run", album, self.folder / "album-edges")
        self.worse = self.folder / "worse"
        subprocess.run([LAPEDGE, "-q", "--kernel=identity", "--quality=20", album, self.worse], cwd=ROOT, check=True)
        self.trees = self.make(LAPEDGE, "diff", album, self.worse, expect=1)
        noise = self.folder / "noise"
        noise.mkdir()
        for i in range(62):
            (noise / f"{i}.ppm").write_bytes(b"P6\n220 220\n255\n" + random.Random(i).randbytes(220 * 220 * 3))
        self.noise = self.make(LAPEDGE, "run", "--ext=ppm", noise, self.folder / "noise-edges")
        self.run = self.make(LAPEDGE, "run", "samples/chelsea.jpg", self.folder / "edges.png")
        self.large = self.make(LAPEDGE, "stats", "samples/seeding.jpg")

    def make(self, program, command, *words, expect=0):
        page = self.folder / f"{command}-{len(list(self.folder.iterdir()))}.html"
        done = subprocess.run([program, command, *map(str, words), f"--report={page}"], cwd=ROOT, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert expect is None or done.returncode == expect, done.stderr
        return page

    def edited(self, page, name, change):
        """The page with other results: change(data) edits them."""
        text, data = pathlib.Path(page).read_text(encoding="utf-8"), data_of(page)
        change(data)
        to = self.folder / name
        to.write_text(re.sub(r'(<script type="application/json" id="data">).*?(</script>)',
                             lambda m: m[1] + json.dumps(data).replace("<", "\\u003c") + m[2], text, count=1, flags=re.S), encoding="utf-8")
        return to

    def all(self):
        return self.bench, self.stats, self.compare, self.album, self.diff, self.run, self.large, self.tree, self.trees


# ---- without a browser ----------------------------------------------------------------------------

def names_are_text(pages):
    text = pages.stats.read_text(encoding="utf-8")
    assert "<img src=x" not in text and data_of(pages.stats)["subject"].endswith(HOSTILE)
    assert text.count("<script") == text.count("</script>") == 3


def pages_are_small(pages):
    sizes = {page.name: page.stat().st_size for page in (*pages.all(), pages.noise)}
    assert max(sizes.values()) <= 5_000_000, sizes


def pages_name_no_address(pages):
    for page in pages.all():
        text = re.sub(r'data:image/[a-z]+;base64,[A-Za-z0-9+/=]*', "", page.read_text(encoding="utf-8"))
        addresses = set(re.findall(r'(?:src|href|url\()\s*=?\s*["\']?(https?:[^"\') ]+)', text))
        assert not addresses, addresses


# ---- with one ---------------------------------------------------------------------------------------

def requests_of(driver):
    """What was asked for, other than the page itself and what stands in it."""
    asked = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    return [url for url in asked if not url.startswith(("data:", "file:"))], asked


def quiet_and_alone(driver, pages):
    for page in pages.all():
        load(driver, page)
        assert not complaints(driver), complaints(driver)
        outside, asked = requests_of(driver)
        assert not outside, outside
        assert sum(url.startswith("file:") for url in asked) == 1, asked
        entries = driver.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
        assert all(name.startswith("data:") for name in entries), entries


def split_of(driver):
    return float(driver.execute_script("return document.getElementById('split').value"))


def clip_of(driver):
    return driver.execute_script("return getComputedStyle(document.getElementById('left')).clipPath")


def slider_moves(driver, pages):
    load(driver, pages.stats)
    viewer, before = driver.find_element("id", "viewer"), clip_of(driver)
    assert split_of(driver) == 50
    ActionChains(driver).move_to_element(viewer).click_and_hold().move_by_offset(-100, 0).release().perform()
    by_mouse = split_of(driver)
    assert 20 < by_mouse < 49 and clip_of(driver) != before, by_mouse
    split = driver.find_element("id", "split")
    split.send_keys(Keys.ARROW_RIGHT * 4)
    assert split_of(driver) == by_mouse + 2, split_of(driver)


def keys_zoom_and_move(driver, pages):
    load(driver, pages.stats)
    def transforms():
        return driver.execute_script("return [...document.querySelectorAll('.stage')].map((s) => s.style.transform)")
    whole = transforms()
    viewer = driver.find_element("id", "viewer")
    viewer.send_keys("+++")
    zoomed = transforms()
    assert zoomed[0] == zoomed[1] != whole[0], (whole, zoomed)
    viewer.send_keys(Keys.ARROW_RIGHT)
    moved = transforms()
    assert moved[0] == moved[1] != zoomed[0], (zoomed, moved)
    viewer.send_keys("0")
    scale = [text.split()[0] for text in transforms()]
    assert scale == [text.split()[0] for text in whole], (whole, transforms())


def picture_of(driver):
    """A short name for what the difference layer shows: its canvases, once they are drawn."""
    return driver.execute_async_script("""
        const done = arguments[0];
        const look = () => {
            const canvases = [...document.querySelectorAll('.stage canvas')];
            if (!canvases.every((c) => c.dataset.drawn)) return setTimeout(look, 20);
            done(canvases.map((c) => c.toDataURL().length + ':' + c.toDataURL().slice(-60)).join());
        };
        look();""")


def any_shape_is_shown_whole(driver, pages):
    outside = """
        const box = viewer.getBoundingClientRect(), picture = document.querySelector('.stage img').getBoundingClientRect();
        return [picture.left < box.left - 1, picture.top < box.top - 1, picture.right > box.right + 1, picture.bottom > box.bottom + 1, box.height < 80, picture.width < 40 && picture.height < 40];"""
    for page in (*pages.shapes, pages.stats, pages.large):
        load(driver, page)
        assert not any(driver.execute_script(outside)), (page.name, driver.execute_script(outside))
        viewer = driver.find_element("id", "viewer")
        viewer.send_keys("++" + Keys.ARROW_RIGHT * 20 + Keys.ARROW_DOWN * 20)
        assert driver.execute_script("return document.querySelector('.stage img').getBoundingClientRect().right >= viewer.getBoundingClientRect().left + viewer.clientWidth / 2")
        viewer.send_keys("0")
        assert not any(driver.execute_script(outside)), (page.name, driver.execute_script(outside))


def rungs_switch(driver, pages):
    load(driver, pages.compare)
    differences = data_of(pages.compare)["pictures"]["differences"]
    inputs = driver.find_elements("css selector", "#choose-rung input")
    assert len(inputs) == len(differences) == 4, differences
    seen = {}
    for number, difference in enumerate(differences):
        driver.execute_script("arguments[0].click()", inputs[number])
        seen[difference["backend"]] = picture_of(driver)
        none = driver.find_element("id", "empty").is_displayed()
        assert none == (difference["differing_pixels"] == 0), difference["backend"]
    assert seen["off-by-one"] != seen["no-border"] and seen["c"] == "", seen


def wrong_pixel_is_found(driver, pages):
    entry = next(d for d in data_of(pages.compare)["pictures"]["differences"] if d["backend"] == "off-by-one")
    assert (entry["max_abs"], entry["differing_pixels"], len(entry["crops"])) == (1, 1, 1), entry
    assert entry["crops"][0]["peak"] == {"x": 101, "y": 37, "value": 1}
    load(driver, pages.compare)
    driver.execute_script("document.querySelectorAll('#views button')[3].click()")
    ring = driver.execute_script("""
        const ring = document.querySelector('.ring').getBoundingClientRect(), box = viewer.getBoundingClientRect();
        return [(ring.left + ring.right) / 2 - box.left, (ring.top + ring.bottom) / 2 - box.top, box.width, box.height];""")
    assert 0 < ring[0] < ring[2] and 0 < ring[1] < ring[3], ring
    assert "2 of 4 backends differ" in driver.find_element("id", "verdict").text


def lens_computes_what_the_program_did(driver, pages):
    ask = """
        const done = arguments[2], set = (id, value) => { byId(id).value = value; byId(id).dispatchEvent(new Event('change')); };
        byId('lens-x').value = arguments[0]; set('lens-y', arguments[1]);
        const look = () => {
            const steps = [...byId('lens-steps').children].map((e) => e.textContent);
            if (steps.length < 6) return setTimeout(look, 20);
            done({steps, good: !!document.querySelector('#lens-steps .good'), products: [...document.querySelectorAll('#lens-grid b')].map((b) => Number(b.textContent.replace('−', '-'))),
                  terms: [...document.querySelectorAll('#lens-grid span')].map((s) => s.textContent)});
        };
        look();"""
    seen = set()
    for page in pages.lenses:
        load(driver, page)
        for x, y in ((0, 0), (63, 0), (1, 47), (63, 47), (31, 20)):
            for channel in (0, 2):
                driver.execute_script("document.querySelectorAll('#choose-channel input')[arguments[0]].click()", channel)
                found = driver.execute_async_script(ask, x, y)
                assert found["good"], (page.name, x, y, found)
                assert len(found["products"]) == 25
                total = float(found["steps"][1].replace("−", "-").replace(",", ""))
                if "kernel=0.1" not in page.name and all(p == int(p) for p in found["products"]):
                    assert sum(found["products"]) == total, found
                seen.add(found["steps"][-1])
    assert len(seen) > 10, seen  # not all black or white
    overlay = driver.execute_script("return [...document.querySelectorAll('.stage .kernel')].map((k) => [k.style.left, k.style.top, k.querySelectorAll('text').length])")
    assert overlay == [["29px", "18px", 25]] * 2, overlay


def pixels_are_read_out(driver, pages):
    def read_at(page, to_right, down):
        load(driver, page)
        viewer = driver.find_element("id", "viewer")
        for _ in range(2):  # the first look begins to decode
            for step in (0, 3):
                ActionChains(driver).move_to_element_with_offset(viewer, to_right, down + step).pause(0.2).perform()
        return driver.find_element("id", "readout").text
    text = read_at(pages.lenses[0], -40, 20)
    x, y, photo, edges = re.fullmatch(r"x (\d+), y (\d+) +· +photo ([\d ]+?) +· +edges ([\d ]+)", text).groups()
    raw = (pages.folder / "tiny.ppm").read_bytes()[-64 * 48 * 3:]
    at = 3 * (64 * int(y) + int(x))
    assert [int(v) for v in photo.split()] == list(raw[at:at + 3]) and len(edges.split()) == 3, text
    assert driver.find_element("id", "lens-x").get_attribute("value") == x
    text = read_at(pages.large, -500, -200)  # no detail there: what the picture scaled down has
    assert re.fullmatch(r"x \d+, y \d+ +· +photo ≈ \d+ \d+ \d+ +· +edges ≈ \d+ \d+ \d+", text), text


def two_images_and_their_difference(driver, pages):
    load(driver, pages.diff)
    results = data_of(pages.diff)["results"]
    assert results["schema"] == "lapedge.diff/1" and driver.find_element("id", "verdict").text == "different"
    assert driver.find_element("id", "pictures-title").text == "A and B" and not driver.find_element("id", "lens").is_displayed()
    rows = dict(driver.execute_script("return [...document.querySelectorAll('#rungs-table tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"))
    assert rows["largest difference"] == str(results["max_abs"]) and rows["SSIM"] == f"{results['ssim']:.6f}", rows
    (entry,) = data_of(pages.diff)["pictures"]["differences"]
    assert entry["max_abs"] == results["max_abs"] == max(crop["peak"]["value"] for crop in entry["crops"])
    assert picture_of(driver)


def heads_of_columns_name_units(driver, pages):
    """Sizes in pixels, levels of samples, and what a time is the time of; values of times have their unit themselves."""
    for page in pages.all():
        load(driver, page)
        heads = driver.execute_script("return [...document.querySelectorAll('th[scope=col]')].filter((t) => t.checkVisibility()).map((t) => t.textContent)")
        plain = [head for head in heads if re.fullmatch(r"|what|why|value|pixels|min|max|mean|median|deviation|decode|fastest|(largest|mean) difference|RMSE|PSNR|upload|download|kernel|times c", head)]
        assert not plain, (page.name, plain)


def a_run_and_its_stages(driver, pages):
    load(driver, pages.run)
    results = data_of(pages.run)["results"]
    assert results["schema"] == "lapedge.file/1" and driver.find_element("id", "verdict").text == "done"
    stages = driver.execute_script("return charts['times-chart'].data.labels") if has_charts(pages.run) else ["decode"]
    assert "decode" in stages and set(stages) <= {name for name, ms in results["ms"].items() if ms}, stages
    assert driver.find_element("id", "lens").is_displayed() and driver.find_element("id", "statistics").is_displayed()


def a_row_a_photo(driver, pages):
    load(driver, pages.album)
    rows = driver.execute_script("return [...document.querySelectorAll('#photos-table tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")
    assert sorted(row[0] for row in rows) == ["a.jpg", "deep/b.jpg"], rows
    assert all(row[2:5] == ["differs", "1", "1"] and row[-1] == "off-by-one differs most" for row in rows), rows
    shown = data_of(pages.album)["pictures"]["input"].split("album/")[1]
    assert [driver.find_element("id", f"{each}-title").text.endswith(f" of {shown}") for each in ("pictures", "statistics")] == [True, True], shown
    spread = "return [...document.querySelectorAll('#rungs-table th')].findIndex((t) => t.textContent === 'spread')"
    column = driver.execute_script(spread)
    # "±3 %", or without the sign if it is very small
    assert all("%" in driver.execute_script("return document.querySelector('#rungs-table tbody').rows[arguments[0]].cells[arguments[1]].textContent", i, column) for i in (0, 1))
    load(driver, pages.compare)  # a single run has no spread
    assert driver.execute_script(spread) == -1
    assert not driver.find_element("id", "photos").is_displayed()


def a_name_that_stands_for_another_is_drawn_once(driver, pages):
    def only(*names):
        def change(data):
            rows = [row for row in data["results"]["rows"] if row["op"] == "filter" and row["width"] == 320]
            data["results"]["rows"] = [dict(next(row for row in rows if row["threads"] == 1 and row["backend"] == "c"), backend=name, resolved=resolved)
                                       for name, resolved in names]
        return change
    drawn = "return [charts['times-chart'].data.labels, charts['roofline-chart'].$names.map((name) => name.text)]"
    for names, shown in (((("c", "c"), ("simd", "simd-avx2"), ("auto", "simd-avx2")), ["c", "simd"]),
                         ((("simd", "simd-avx2"), ("simd-avx2", "simd-avx2")), ["simd-avx2"])):
        load(driver, pages.edited(pages.bench, "names.html", only(*names)))
        times, roofline = driver.execute_script(drawn)
        assert times == shown and sorted(roofline) == shown, (times, roofline)


def a_point_a_rung(driver, pages):
    load(driver, pages.bench)
    rows = [row for row in data_of(pages.bench)["results"]["rows"] if row["op"] == "filter" and row["width"] == 320]
    rungs = [row for row in rows if row["flops_per_byte"] and row["gb_per_s"] and row["backend"] not in ("memcpy", "multiply-add")]
    assert len(rungs) >= 4
    points = driver.execute_script("return charts['roofline-chart'].data.datasets[0].data.length")
    roofs = driver.execute_script("return charts['roofline-chart'].data.datasets.length - 1")
    once = {(row["resolved"], row["threads"]) for row in rungs}
    assert points == len(once) and roofs >= 1, (points, once, roofs)
    notes = driver.execute_script("return [...document.querySelectorAll('#explained dd')].map((dd) => dd.textContent)")
    assert len(notes) >= 3 and all("Limit: " in text or "Measured: " in text for text in notes), notes
    cases = driver.find_elements("css selector", "#choose-case input")
    assert len(cases) == 3, len(cases)
    driver.execute_script("arguments[0].click()", cases[1])
    assert "64 × 48" in driver.find_element("id", "choose-case").text


def nothing_is_above_its_roof(driver, pages):
    """Of the kept benches: each point below the roofs of as many threads."""
    kept = json.loads(pathlib.Path("docs/bench/ladder-cpu.json").read_text(encoding="utf-8"))

    def change(data):
        data["results"]["rows"] = kept["rows"]
    load(driver, pages.edited(pages.bench, "roofs.html", change))
    points, roofs = driver.execute_script(
        "const sets = charts['roofline-chart'].data.datasets;"
        "return [sets[0].data.map((p, i) => [sets[0].names[i], p.x, p.y]), sets.slice(1).map((s) => [s.label, s.data.at(-1).y])]")
    assert len(points) > 10 and any("multiply-add" in label for label, _ in roofs), (points, roofs)
    compute = {2 if "×2" in label else 1: y for label, y in roofs if label.startswith("multiply-add")}
    for name, _, y in points:
        assert y < compute[2 if name.endswith("×2") else 1], (name, y, compute)


def a_folder_has_a_contact_sheet(driver, pages):
    state = """
        const shown = [...document.querySelectorAll('#sheet-grid figure')];
        return shown.map((f) => [f.querySelector('b').textContent, [...f.querySelectorAll('img')].map((i) => i.naturalWidth > 50 && i.getBoundingClientRect().height > 50)]);"""
    for page, pictures in ((pages.tree, 2), (pages.trees, 3)):
        load(driver, page)
        names = ["a.jpg", "deep/b.jpg"]
        found = sorted((name.removeprefix(str(pages.folder / "album") + "/"), good) for name, good in driver.execute_script(state))
        assert found == [(name, [True] * pictures) for name in names], found
    assert driver.execute_script("return document.querySelectorAll('#failed-table tbody tr').length") == 2
    load(driver, pages.tree)
    assert driver.execute_script("return document.querySelectorAll('#slowest-table tbody tr').length") == 2
    assert driver.find_element("id", "verdict").text == "all done"
    load(driver, pages.noise)
    assert len(driver.execute_script(state)) == 60 and "60 of 62" in driver.find_element("id", "sheet-note").text


def theme_toggles(driver, pages):
    load(driver, pages.stats)
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = driver.execute_script(ground)
    driver.find_element("id", "theme").click()
    dark = driver.execute_script(ground)
    assert light != dark and driver.execute_script("return document.documentElement.dataset.theme") == "dark"
    driver.find_element("id", "theme").click()
    assert driver.execute_script(ground) == light


def fits_a_phone(driver, pages):
    try:
        for width in (320, 390):
            resize(driver, width, 844, phone=True)
            for page in pages.all():
                load(driver, page)
                wide = driver.execute_script("return document.documentElement.scrollWidth")
                assert wide <= width, (page.name, width, wide)
        load(driver, pages.diff)
        assert driver.execute_script("return [...document.querySelectorAll('#scale span')].every((e) => e.getClientRects().length === 1 && e.offsetHeight < 30)")
    finally:
        resize(driver, 1280, 900)


def wide_tables_say_that_they_go_on(driver, pages):
    state = """
        const box = document.getElementById('rungs-table').parentElement, hint = box.nextElementSibling;
        return [box.scrollWidth - box.clientWidth, box.classList.contains('more'), hint.textContent, hint.getBoundingClientRect().height > 0];"""
    load(driver, pages.bench)
    assert driver.execute_script(state)[:3] == [0, False, ""], driver.execute_script(state)
    try:
        resize(driver, 390, 844, phone=True)
        load(driver, pages.bench)
        hidden, more, hint, shown = driver.execute_script(state)
        assert hidden > 100 and more and shown and "more columns" in hint, (hidden, more, hint, shown)
        name = "return document.querySelector('#rungs-table tbody th').getBoundingClientRect().left"
        before = driver.execute_script(name)
        driver.execute_script("document.getElementById('rungs-table').parentElement.scrollLeft = 9999")
        driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        assert driver.execute_script(state)[1:3] == [False, ""], driver.execute_script(state)
        assert abs(driver.execute_script(name) - before) < 8  # names stay in sight
    finally:
        resize(driver, 1280, 900)


def charts_stay_in_their_cards(driver, pages):
    beyond = """
        return [...document.querySelectorAll('section:not([hidden])')].flatMap((card) => [...card.querySelectorAll('canvas, img, table, dl, pre')]
            .filter((e) => e.checkVisibility() && !e.closest('.stage, .wide') && e.getBoundingClientRect().right > card.getBoundingClientRect().right - 4)
            .map((e) => `${e.tagName} in ${card.id}`));"""
    try:
        for width in (320, 390, 820, 1280):
            resize(driver, width, 844, phone=width < 500)
            for page in pages.all():
                load(driver, page)
                assert not driver.execute_script(beyond), (page.name, width, driver.execute_script(beyond))
    finally:
        resize(driver, 1280, 900)


def paper_holds_everything(driver, pages):
    """A4 without its margins of 12 mm is 703 pixels wide."""
    beyond = """
        const cards = [...document.querySelectorAll('section:not([hidden])')];
        return cards.flatMap((card) => [...card.querySelectorAll('canvas, img, table, dl, p, h2')]
            .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > card.getBoundingClientRect().right - 2)
            .map((e) => `${e.tagName} in ${card.id}: ${e.getBoundingClientRect().right} beyond ${card.getBoundingClientRect().right}`))
            .concat(cards.filter((card) => card.getBoundingClientRect().right > innerWidth + 1).map((card) => `${card.id} on the page`));"""
    shown = "return [...document.querySelectorAll('#viewer, .bar, #theme, .hint')].filter((e) => e.checkVisibility()).length"
    flows = "return [...document.querySelectorAll('section')].map((e) => e.id + ' ' + getComputedStyle(e).breakInside)"
    for page in pages.all():
        load(driver, page)
        try:
            driver.execute_script("dispatchEvent(new Event('beforeprint'))")
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
            resize(driver, 703, 1000)
            assert not driver.execute_script(beyond), (page.name, driver.execute_script(beyond))
            assert driver.execute_script("return document.documentElement.scrollWidth") <= 703, page.name
            assert driver.execute_script(shown) == 0, page.name
            whole = [each for each in driver.execute_script(flows) if each.endswith(" avoid")]
            assert whole == ["times avoid", "roofline avoid", "facts avoid"], whole
            assert driver.execute_script("return getComputedStyle(document.querySelector('h2')).breakAfter") == "avoid"
            if has_charts(page) and page not in (pages.tree, pages.trees):  # those draw none
                sizes = driver.execute_script("const paper = Chart.defaults.font.size; dispatchEvent(new Event('afterprint')); return [paper, Chart.defaults.font.size]")
                assert sizes[0] < 10 < sizes[1], sizes  # as small as the text around it
        finally:
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
            resize(driver, 1280, 900)
        load(driver, page)
        paper = driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True})
        leaves = len(re.findall(rb"/Type\s*/Page\b(?!s)", base64.b64decode(paper["data"])))
        assert 1 <= leaves <= 3, (page.name, leaves)


def dots_where_bars_have_no_length(driver, pages):
    def times(*medians):
        def change(data):
            filters = [row for row in data["results"]["rows"] if row["op"] == "filter" and row["width"] == 320]
            rungs = [row for row in filters if row["resolved"] == row["backend"] and row["median_ms"] and row["flags"]]
            data["results"]["rows"] = rungs[:len(medians)]
            for row, median in zip(rungs, medians):
                row.update(median_ms=median, min_ms=0.9 * median, max_ms=1.2 * median, stddev_ms=0.2 * median, convert_ms=None, noisy=True)
        return change
    kind = "return [charts['times-chart'].config.type, charts['times-chart'].options.scales.x.type ?? 'linear', charts['times-chart'].$beside.rows.map((r) => r.text)]"
    load(driver, pages.edited(pages.bench, "near.html", times(30, 2, 1)))
    assert driver.execute_script(kind) == ["bar", "linear", ["30.0\u00a0ms ±20\u00a0%", "2.00\u00a0ms ±20\u00a0%", "1.00\u00a0ms ±20\u00a0%"]], driver.execute_script(kind)
    load(driver, pages.edited(pages.bench, "far.html", times(31, 2, 1)))
    assert driver.execute_script(kind)[:2] == ["line", "logarithmic"], driver.execute_script(kind)
    beyond = """
        const chart = charts['times-chart'], radius = chart.getDatasetMeta(0).data[0].options.radius;
        return chart.data.datasets.every((set) => set.clip === false) && chart.$beside.gap > radius + 2;"""
    assert driver.execute_script(beyond)  # dots at the end of the axis are whole, and no number touches one
    assert driver.execute_script("return document.querySelectorAll('td.noisy').length") == 3
    assert driver.find_element("id", "noise").text.startswith("3 of 3 measurements are noisy")
    assert not complaints(driver)
    driver.execute_script("document.querySelectorAll('#choose-unit input')[1].click()")
    assert driver.execute_script(kind)[0] == "bar"  # shares of a whole are bars at any span


def names_of_points_do_not_meet(driver, pages):
    def many(data):
        rows = [row for row in data["results"]["rows"] if row["op"] == "filter" and row["width"] == 320]
        rung = next(row for row in rows if row["backend"] == "simd-avx2")
        for i in range(20):
            other = dict(rung, backend=f"cuda-shared4-rung{i}", resolved=f"cuda-shared4-rung{i}")
            other["gb_per_s"] *= 1 + i % 3 / 100
            rows.append(other)
        data["results"]["rows"] = rows
    crowd = pages.edited(pages.bench, "crowd.html", many)
    try:
        for page, width in ((pages.bench, 1280), (crowd, 1280), (crowd, 390)):
            resize(driver, width, 900, phone=width < 500)
            load(driver, page)
            names = driver.execute_script("return charts['roofline-chart'].$names")
            area = driver.execute_script("const c = charts['roofline-chart']; return [c.chartArea.right, c.width, c.height]")
            assert len(names) >= (24 if page == crowd else 4)
            for a, b in zip(names, names[1:]):
                assert a["bottom"] <= b["top"] + 0.01, (a, b)
            for name in names:
                assert name["left"] > area[0] and name["right"] <= area[1] and 0 <= name["top"] and name["bottom"] <= area[2], (name, area)
    finally:
        resize(driver, 1280, 900)


def fields_have_names(driver, pages):
    for page in pages.all():
        load(driver, page)
        nameless = driver.execute_script("""
            return [...document.querySelectorAll('input, button, canvas, img, [tabindex="0"]')].filter((e) =>
                !(e.getAttribute('aria-label') || document.getElementById(e.getAttribute('aria-labelledby'))?.textContent || e.closest('label')?.textContent || e.textContent.trim() || e.hasAttribute('alt') ||
                  e.closest('.stage'))).map((e) => e.outerHTML.slice(0, 80));""")
        assert not nameless, nameless


def contrast_is_enough(driver, pages):
    """WCAG 2, AA: 4.5 to 1 for every text element against the nearest ground."""
    script = """
        const parse = (c) => c.match(/[\\d.]+/g).map(Number);
        const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (c.startsWith('rgb(')) return parse(c); } return [255, 255, 255]; };
        return [...document.querySelectorAll('h1, h2, h3, p, li, th, td, dt, dd, span, button, summary, legend, b')]
            .filter((e) => e.checkVisibility() && e.textContent.trim() && !e.closest('#viewer'))
            .map((e) => { const a = light(parse(getComputedStyle(e).color)), b = light(ground(e)); return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.outerHTML.slice(0, 60)]; })
            .filter(([ratio]) => ratio < 4.5);"""
    for page in pages.all():
        load(driver, page)
        for _ in range(2):
            low = driver.execute_script(script)
            assert not low, low[:4]
            driver.find_element("id", "theme").click()


PLAIN = [names_are_text, pages_are_small, pages_name_no_address]
BROWSER = [quiet_and_alone, slider_moves, keys_zoom_and_move, any_shape_is_shown_whole, rungs_switch, wrong_pixel_is_found, lens_computes_what_the_program_did, pixels_are_read_out,
           two_images_and_their_difference, heads_of_columns_name_units, a_run_and_its_stages, a_row_a_photo, a_point_a_rung,
           nothing_is_above_its_roof, a_name_that_stands_for_another_is_drawn_once,
           a_folder_has_a_contact_sheet, theme_toggles, fits_a_phone, wide_tables_say_that_they_go_on, charts_stay_in_their_cards, paper_holds_everything,
           dots_where_bars_have_no_length, names_of_points_do_not_meet, fields_have_names, contrast_is_enough]


def main():
    bad = number = 0
    tests = [(test, False) for test in PLAIN] + [(test, True) for test in BROWSER]
    with tempfile.TemporaryDirectory() as folder:
        pages = Pages(folder)
        driver = None if MISSING else open_browser()
        try:
            for number, (test, needs_browser) in enumerate(tests, 1):
                name = test.__name__.replace("_", " ")
                skipped = MISSING if needs_browser else None
                if test in (a_point_a_rung, nothing_is_above_its_roof, a_name_that_stands_for_another_is_drawn_once, dots_where_bars_have_no_length, names_of_points_do_not_meet) and not skipped and not has_charts(pages.bench):
                    skipped = "no chart library in this build"
                if skipped:
                    print(f"ok {number} - report: {name} # SKIP {skipped}", flush=True)
                    continue
                try:
                    test(*([driver] if needs_browser else []), pages)
                    print(f"ok {number} - report: {name}", flush=True)
                except Exception as problem:  # pylint: disable=broad-except # whatever it is, it is a failure
                    bad += 1
                    print(f"not ok {number} - report: {name}")
                    print("# " + f"{type(problem).__name__}: {problem}".replace("\n", "\n# ")[:3000], flush=True)
        finally:
            if driver:
                driver.quit()
    print(f"1..{number}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
