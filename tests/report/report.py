#!/usr/bin/python3
"""The pages that --report writes, in a headless Chromium: what is on them, what moves, and what they ask for."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAPEDGE = os.environ.get("LAPEDGE", str(ROOT / "lapedge"))
PLANTED = str(ROOT / os.environ.get("B", "build") / "tests/lapedge-planted")
MISSING = None
try:
    from browser import complaints, load, open_browser, resize
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    if not pathlib.Path("/usr/bin/chromedriver").exists():
        MISSING = "no chromedriver"
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
        self.compare = self.make(PLANTED, "compare", "samples/chelsea.jpg", expect=None)
        self.large = self.make(LAPEDGE, "stats", "samples/seeding.jpg")

    def make(self, program, command, *words, expect=0):
        page = self.folder / f"{command}-{len(list(self.folder.iterdir()))}.html"
        done = subprocess.run([program, command, *map(str, words), f"--report={page}"], cwd=ROOT, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert expect is None or done.returncode == expect, done.stderr
        return page

    def all(self):
        return self.bench, self.stats, self.compare, self.large


# ---- without a browser ----------------------------------------------------------------------------

def names_are_text(pages):
    text = pages.stats.read_text(encoding="utf-8")
    assert "<img src=x" not in text and data_of(pages.stats)["subject"].endswith(HOSTILE)
    assert text.count("<script") == text.count("</script>") == 3


def pages_are_small(pages):
    sizes = {page.name: page.stat().st_size for page in pages.all()}
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


def planted_pixel_is_found(driver, pages):
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


def a_point_a_rung(driver, pages):
    load(driver, pages.bench)
    rows = [row for row in data_of(pages.bench)["results"]["rows"] if row["op"] == "filter" and row["width"] == 320]
    rungs = [row for row in rows if row["flops_per_byte"] and row["gb_per_s"] and row["backend"] not in ("memcpy", "multiply-add")]
    assert len(rungs) >= 4
    points = driver.execute_script("return charts['roofline-chart'].data.datasets[0].data.length")
    roofs = driver.execute_script("return charts['roofline-chart'].data.datasets.length - 1")
    assert points == len(rungs) and roofs >= 1, (points, len(rungs), roofs)
    cases = driver.find_elements("css selector", "#choose-case input")
    assert len(cases) == 3, len(cases)
    driver.execute_script("arguments[0].click()", cases[1])
    assert "64 × 48" in driver.find_element("id", "choose-case").text


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
    finally:
        resize(driver, 1280, 900)


def fields_have_names(driver, pages):
    for page in pages.all():
        load(driver, page)
        nameless = driver.execute_script("""
            return [...document.querySelectorAll('input, button, canvas, img, [tabindex="0"]')].filter((e) =>
                !(e.getAttribute('aria-label') || e.closest('label')?.textContent || e.textContent.trim() || e.hasAttribute('alt') ||
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
BROWSER = [quiet_and_alone, slider_moves, keys_zoom_and_move, rungs_switch, planted_pixel_is_found, a_point_a_rung,
           theme_toggles, fits_a_phone, fields_have_names, contrast_is_enough]


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
                if test is a_point_a_rung and not skipped and not has_charts(pages.bench):
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
