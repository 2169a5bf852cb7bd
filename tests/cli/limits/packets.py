#!/usr/bin/env python3
"""The place and thumbnails in XMP, IPTC, Photoshop's resources and the text of PNGs, and what a PNG and a JPEG take over
from each other. Prints TAP."""

import functools
import json
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import made
from made import SAMPLE, exif, noise, png, run_all, segment, segments, with_segments

SECRET = "SECRETxPLACE"
PICTURE = "/9j/SECRETxPICTURE"
XMP, EXTENDED = b"http://ns.adobe.com/xap/1.0/\0", b"http://ns.adobe.com/xmp/extension/\0"
SPACES = {"exif": "http://ns.adobe.com/exif/1.0/", "exifEX": "http://cipa.jp/exif/1.0/",
          "photoshop": "http://ns.adobe.com/photoshop/1.0/",
          "core": "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/", "ext": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
          "dc": "http://purl.org/dc/elements/1.1/", "xmp": "http://ns.adobe.com/xap/1.0/", "own": "http://example.org/own/",
          "drone": "http://www.dji.com/drone-dji/1.0/", "mm": "http://ns.adobe.com/xap/1.0/mm/",
          "img": "http://ns.adobe.com/xap/1.0/g/img/", "google": "http://ns.google.com/photos/1.0/image/",
          "note": "http://ns.adobe.com/xmp/note/"}
LOCATION = ("exif:GPSLatitude", "exif:GPSAltitude", "exif:gpsTimeStamp", "photoshop:City", "photoshop:State", "photoshop:Country",
            "core:Location", "core:CountryCode", "ext:LocationCreated", "ext:LocationShown", "dc:coverage", "own:Anything",
            "drone:GpsLatitude", "mm:Pantry", "exif:Pressure", "exif:WaterDepth", "exifEX:Pressure", "exifEX:WaterDepth")


def packet(body, attributes="", front="<?xpacket begin='\ufeff' id='W5M0MpCehiHzreSzNTczkc9d'?>", spaces=SPACES):
    declared = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in spaces.items())
    return (f'{front}<x:xmpmeta xmlns:x="adobe:ns:meta/">\n <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            f'<rdf:Description rdf:about="" {declared} dc:format="HARMLESS" {attributes}>{body}'
            f"</rdf:Description></rdf:RDF></x:xmpmeta>{' ' * 20}<?xpacket end='w'?>").encode()


def forms(name, value):
    """A property as attribute and as elements of several kinds: (body, attributes)."""
    yield "", f'{name}="{value}"'
    yield "", f"{name} =\n'{value}'"
    yield f"<{name}>{value}</{name}>", ""
    yield f"<{name}\n>\n {value}</{name}\n>", ""
    yield f"<{name}><rdf:Bag><rdf:li>{value}</rdf:li></rdf:Bag></{name}>", ""
    yield f'<{name} rdf:parseType="Resource"><dc:title>{value}</dc:title></{name}>', ""
    yield f"<dc:relation rdf:parseType='Resource'><{name}>{value}</{name}></dc:relation>", ""
    yield f'<dc:relation><rdf:Description {name}="{value}"/></dc:relation>', ""
    yield f'<dc:relation {name}="{value}"/>', ""
    yield f'<{name} rdf:resource="{value}"/>', ""


def lapedge(*words, **more):
    """As made's, without the note that an earlier output beside the photo was replaced."""
    data, said = made.lapedge(*words, **more)
    return data, "".join(line for line in said.splitlines(keepends=True) if "; --no-clobber leaves it" not in line)


def output(*new, options=(), name="o.jpg", code=0):
    Path("in.jpg").write_bytes(with_segments(SAMPLE, *new))
    _, said = lapedge("in.jpg", name, "--no-sync", *options, code=code)
    return Path(name).read_bytes(), said


def place_in_xmp():
    """XMP without gps in the list: no form of a property that names the place comes through"""
    count = 0
    for name in LOCATION:
        for body, attributes in forms(name, SECRET):
            data, said = output(segment(0xE1, XMP + packet(body, attributes)), options=["--keep=xmp"])
            assert SECRET.encode() not in data and b"HARMLESS" in data and not said, (name, body, attributes, said)
            count += 1
            # With it, and without a list, the packet stays as it is.
            for options in (["--keep=xmp,exif,gps"], []):
                kept, _ = output(segment(0xE1, XMP + packet(body, attributes)), options=options)
                assert XMP + packet(body, attributes) in kept
    assert count == 180, count


def namespaces_count():
    """Prefixes are only names: the place under another prefix, or as the default namespace, goes too"""
    other = dict(SPACES, harmless=SPACES["exif"])
    data, _ = output(segment(0xE1, XMP + packet(f"<harmless:GPSLatitude>{SECRET}</harmless:GPSLatitude>", spaces=other)),
                     options=["--keep=xmp"])
    assert SECRET.encode() not in data and b"HARMLESS" in data
    inner = f'<City xmlns="{SPACES["photoshop"]}">{SECRET}</City>'
    data, _ = output(segment(0xE1, XMP + packet(inner)), options=["--keep=xmp"])
    assert SECRET.encode() not in data and b"HARMLESS" in data
    # A prefix that is declared anew inside means something else there, and the old thing behind.
    inner = f'<dc:a xmlns:dc="{SPACES["exif"]}"><dc:GPSLatitude>{SECRET}</dc:GPSLatitude></dc:a><dc:title>TITLE</dc:title>'
    data, _ = output(segment(0xE1, XMP + packet(inner)), options=["--keep=xmp"])
    assert SECRET.encode() not in data and b"TITLE" in data


def unsure_xmp():
    """XMP that cannot be read with certainty is left out with a warning"""
    # Without the namespaces of pictures, which are looked for in any case.
    plain = functools.partial(packet, spaces={prefix: SPACES[prefix] for prefix in ("exif", "dc")})
    good = plain(f"<exif:GPSLatitude>{SECRET}</exif:GPSLatitude>")
    for bad in (good[:-60], b"<!DOCTYPE x>" + good, good.replace(b"<exif:GPS", b"<![CDATA[" + SECRET.encode() + b"]]><exif:GPS"),
                plain(f"<undeclared:x>{SECRET}</undeclared:x>"), plain(f"{SECRET}"), good.decode().encode("utf-16"),
                plain("<dc:a>" * 80), SECRET.encode(), plain(f"<dc:a><dc:b>{SECRET}</dc:a></dc:b>"),
                plain("", f"dc:a={SECRET}"), plain("", f'xmlns:odd="a&amp;b" odd:a="{SECRET}"'), good + SECRET.encode()):
        data, said = output(segment(0xE1, XMP + bad), options=["--keep=xmp"])
        assert SECRET.encode() not in data and SECRET.encode("utf-16")[2:] not in data and b"xap/1.0" not in data, bad
        assert "XMP is left out" in said, (said, bad)
        _, said = output(segment(0xE1, XMP + bad), options=["--keep=xmp", "--fail-on=warning"], code=1)
        assert said.startswith("lapedge: in.jpg: unsupported: XMP is left out"), said
        kept, said = output(segment(0xE1, XMP + bad))
        assert bad in kept and not said
    data, _ = output(segment(0xE1, XMP + plain(f"<!-- {SECRET} --><?odd {SECRET}?>")), options=["--keep=xmp"])
    assert SECRET.encode() not in data and b"HARMLESS" in data


def thumbnails_in_xmp():
    """Thumbnails in XMP show the unfiltered photo: gone with a list and without"""
    inner = (f"<xmp:Thumbnails><rdf:Alt><rdf:li rdf:parseType='Resource'><img:format>JPEG</img:format><img:image>{PICTURE}"
             "</img:image></rdf:li></rdf:Alt></xmp:Thumbnails>")
    for body, attributes in ((inner, ""), ("", f'google:Data="{PICTURE}"'), (f"<own:photo>\n{PICTURE}</own:photo>", ""),
                             ("", f"own:photo=' {PICTURE}'"), ("", f"own:photo='&#xA;{PICTURE}'"),
                             (f"<own:photo>data:image/jpeg;base64,{PICTURE}</own:photo>", ""),
                             (f"<Thumbnails xmlns='{SPACES['xmp']}'>{PICTURE}</Thumbnails>", ""),
                             (f"<exif:MakerNote>{PICTURE}</exif:MakerNote>", "")):
        for options in ([], ["--keep=xmp"], ["--keep=xmp,exif,gps"]):
            data, said = output(segment(0xE1, XMP + packet(body, attributes)), options=options)
            assert PICTURE.encode() not in data and b"HARMLESS" in data and not said, (body, options)
        data, _ = output(segment(0xE1, XMP + packet(body, attributes)), options=["--keep=all"])
        assert PICTURE.encode() in data
        # A reference to extended XMP that is not there goes alone.
        reference = f"{attributes} note:HasExtendedXMP='0'"
        data, said = output(segment(0xE1, XMP + packet(body, reference)), options=["--keep=all"])
        assert PICTURE.encode() in data and b"HasExtended" not in data and not said
    for code in ("utf-16", "utf-16-be", "utf-32"):
        data, said = output(segment(0xE1, XMP + packet(inner).decode().encode(code)))
        assert b"xap/1.0" not in data and "it may contain a thumbnail, and is too unusual to check" in said, (code, said)


def extended_xmp():
    """Extended XMP stays whole or goes whole, and the reference to it with it"""
    def parts(text):
        head = EXTENDED + b"0" * 32 + struct.pack(">I", len(text))
        cut = len(text) // 2
        return [segment(0xE1, head + struct.pack(">I", at) + piece) for at, piece in ((0, text[:cut]), (cut, text[cut:]))]
    main = XMP + packet("", 'note:HasExtendedXMP="' + "0" * 32 + '"')
    place, harmless = packet(f"<exif:GPSLatitude>{SECRET}</exif:GPSLatitude>", front=""), packet("<dc:title>T</dc:title>", front="")
    photo = packet(f"<google:Data>{PICTURE}</google:Data>", front="")
    harmless = harmless.replace(b"<?xpacket end='w'?>", b"")
    data, said = output(segment(0xE1, main), *parts(place), options=["--keep=xmp"])
    assert SECRET.encode() not in data and b"HasExtended" not in data and EXTENDED not in data and "second part of XMP" in said
    data, said = output(segment(0xE1, main), *parts(harmless), options=["--keep=xmp"])
    assert data.count(EXTENDED) == 2 and b"HasExtended" in data and not said
    alone = photo.replace(b' dc:format="HARMLESS"', b"")
    odd = photo.replace(PICTURE.encode(), b"<![CDATA[" + PICTURE.encode() + b"]]>")
    for text, word in ((photo, "as a whole"), (alone, ""), (odd, "too unusual to check")):
        data, said = output(segment(0xE1, main), *parts(text))
        assert b"xPICTURE" not in data and b"HasExtended" not in data and EXTENDED not in data
        assert word in said and bool(said) == bool(word), (text, said)
        _, said = output(segment(0xE1, main), *parts(text), options=["--fail-on=warning"], code=1 if word else 0)
        assert word in said, said
    data, said = output(segment(0xE1, main), *parts(place))
    assert data.count(EXTENDED) == 2 and main in data


def data_set(record, number, text):
    return b"\x1c" + bytes([record, number]) + struct.pack(">H", len(text)) + text


def block(number, data, name=b"\0\0"):
    return b"8BIM" + struct.pack(">H", number) + name + struct.pack(">I", len(data)) + data + b"\0" * (len(data) % 2)


PLACES = (26, 27, 90, 92, 95, 100, 101)
IPTC = (data_set(1, 90, b"\x1b%G") + data_set(2, 0, b"\0\4") + data_set(2, 105, b"HARMLESS") +
        b"".join(data_set(2, number, SECRET.encode()) for number in PLACES) + data_set(2, 202, b"SECRETxPREVIEW") +
        data_set(2, 255, b"SECRETxUNKNOWN"))
IPTC_KEPT = IPTC.replace(data_set(2, 202, b"SECRETxPREVIEW"), b"") # without a list


def place_in_iptc():
    """IPTC data sets of a place follow the list, previews and other blocks go with any list"""
    blocks = [block(0x404, IPTC), block(0x40C, b"SECRETxTHUMBNAIL"), block(0x422, exif(1, b"SECRETxEXIF")),
              block(0x424, packet(SECRET)), block(0x40B, b"http://HARMLESS"), block(0x3ED, b"\0" * 16, b"\6SECRET\0"),
              block(0x4444, b"SECRETxOTHER")]
    for order in (blocks, blocks[::-1]):
        whole = b"".join(order)
        cuts = [[whole], [whole[:700], whole[700:]], [whole[:5], whole[5:100], whole[100:]]]
        for pieces in cuts:
            new = [segment(0xED, b"Photoshop 3.0\0" + piece) for piece in pieces]
            for options in (["--keep=iptc"], ["--keep=iptc", "--auto-orient"]):
                data, _ = output(*new, options=options)
                assert b"SECRET" not in data and data.count(b"HARMLESS") == 2, (len(pieces), options)
            data, _ = output(*new, options=["--keep=iptc,exif,gps"])
            assert data.count(SECRET.encode()) == len(PLACES) and b"xPREVIEW" not in data and b"xOTHER" not in data
            data, _ = output(*new)
            assert b"xTHUMBNAIL" not in data and SECRET.encode() in data and b"xOTHER" in data
            assert b"xPREVIEW" not in data
    cut = b"Photoshop 3.0\0" + block(0x404, IPTC)[:-30]
    data, said = output(segment(0xED, cut), options=["--keep=iptc"])
    assert b"SECRET" not in data and "cannot be read" in said


def chunks(data):
    at, found = 8, []
    while at < len(data):
        size = struct.unpack(">I", data[at:at + 4])[0]
        found.append((data[at + 4:at + 8], data[at + 8:at + 8 + size]))
        at += 12 + size
    return found


def itxt(keyword, text, packed=False):
    return b"iTXt", keyword + b"\0" + (b"\1\0" if packed else b"\0\0") + b"\0\0" + (zlib.compress(text) if packed else text)


def raw_profile(kind, data):
    return b"zTXt", b"Raw profile type " + kind + b"\0\0" + zlib.compress(b"\n%s\n%8d\n%s\n" % (kind, len(data), data.hex().encode()))


def text_of_a_png():
    """XMP, IPTC and text of a PNG reach a JPEG and a PNG, and follow the list"""
    xmp = packet(f"<exif:GPSLatitude>{SECRET}</exif:GPSLatitude>")
    comment = b"COMMENT with \xe9"
    for packed in (False, True):
        png("in.png", 16, 16, 3, noise(768), [itxt(b"XML:com.adobe.xmp", xmp, packed), (b"tEXt", b"Comment\0" + comment),
                                              (b"zTXt", b"Title\0\0" + zlib.compress(b"TITLE")),
                                              (b"tEXt", b"exif:GPSLatitude\0" + SECRET.encode()),
                                              raw_profile(b"iptc", block(0x404, IPTC))])
        for options in ([], ["--keep=all"]):
            lapedge("in.png", "o.jpg", "--no-sync", *options)
            found = segments(Path("o.jpg").read_bytes())
            assert (0xE1, XMP + xmp) in found
            assert [data for marker, data in found if marker == 0xFE] == [
                "COMMENT with é".encode(), b"Title: TITLE", b"exif:GPSLatitude: " + SECRET.encode()]
            assert b"HARMLESS" in dict(found)[0xED]
            lapedge("in.png", "o.png", "--no-sync", *options)
            again = chunks(Path("o.png").read_bytes())
            assert itxt(b"XML:com.adobe.xmp", xmp) in again and itxt(b"Comment", "COMMENT with é".encode()) in again
            assert (b"tEXt", b"Title\0TITLE") in again and (b"tEXt", b"exif:GPSLatitude\0" + SECRET.encode()) in again
            lapedge("o.png", "two.png", "--no-sync", *options) # and stay as they are from there on
            text = lambda all_of: [c for c in all_of if c[0] in (b"iTXt", b"tEXt", b"zTXt")]
            assert text(again) == text(chunks(Path("two.png").read_bytes()))
        for options in (["--keep=xmp,iptc,comment"], ["--keep=xmp,iptc,comment,exif"]):
            for name in ("o.jpg", "o.png"):
                lapedge("in.png", name, "--no-sync", *options)
                data = Path(name).read_bytes()
                data += b"".join(zlib.decompress(c[c.index(b"\0") + 2:]) for kind, c in chunks(data) if kind == b"zTXt") if name == "o.png" else b""
                assert SECRET.encode() not in data and SECRET.encode().hex().encode() not in data and b"TITLE" in data
        for options in (["--strip"], ["--keep=icc"]):
            lapedge("in.png", "o.jpg", "--no-sync", *options)
            assert {marker for marker, _ in segments(Path("o.jpg").read_bytes())} & {0xE1, 0xED, 0xFE} == set()


def jpeg_to_png():
    """IPTC and comments of a JPEG are in its PNG; what has no place there is warned of"""
    iptc = b"Photoshop 3.0\0" + block(0x404, IPTC_KEPT)
    data, said = output(segment(0xED, iptc), segment(0xFE, b"a comment"), segment(0xFE, "naïve".encode()), name="o.png")
    found = chunks(data)
    assert (b"tEXt", b"Comment\0a comment") in found and itxt(b"Comment", "naïve".encode()) in found and not said
    profile = next(zlib.decompress(c[c.index(b"\0") + 2:]) for kind, c in found if kind == b"zTXt")
    digits = block(0x404, IPTC_KEPT).hex().encode()
    lines = [digits[at:at + 72] for at in range(0, len(digits), 72)]
    assert profile == b"\niptc\n%8d\n" % (len(digits) // 2) + b"\n".join(lines) + b"\n" and len(lines) > 1
    lapedge("o.png", "back.jpg", "--no-sync")
    assert (0xED, iptc) in segments(Path("back.jpg").read_bytes())
    for new, word in ((segment(0xE1, EXTENDED + b"0" * 36 + bytes(4) + b"0" * 8), "second part of XMP"), (segment(0xFE, b"a\0b"), "not text"),
                      (segment(0xE1, exif(1)) * 2, "a second EXIF")):
        _, said = output(new, name="o.png")
        assert "left out" in said and word in said, said
        _, said = lapedge("in.jpg", "none.png", "--fail-on=warning", "--no-sync", code=1)
        assert said.startswith("lapedge: in.jpg: unsupported: ") and "left out" in said, said
        assert not Path("none.png").exists()
    _, said = output(segment(0xFE, b"a comment"), name="o.bmp", options=["-v"])
    assert ".bmp has no place" in said and "warning" not in said, said


def exiftool_agrees():
    """ExifTool reads the same IPTC, XMP and comment from JPEG and PNG, and no place"""
    if not shutil.which("exiftool"):
        return "no exiftool"
    read = lambda name, *words: json.loads(subprocess.run(["exiftool", "-j", "-G1", "-a", *words, name], capture_output=True,
                                                          check=True).stdout)[0]
    new = [segment(0xED, b"Photoshop 3.0\0" + block(0x404, IPTC)), segment(0xFE, b"a comment"),
           segment(0xE1, XMP + packet(f"<exif:GPSLatitude>47,29.5N</exif:GPSLatitude><photoshop:City>{SECRET}</photoshop:City>"))]
    output(*new, name="o.png")
    row = read("o.png")
    assert row["IPTC:Headline"] == "HARMLESS" and row["XMP-exif:GPSLatitude"] and row["PNG:Comment"] == "a comment", row
    for name in ("o.png", "o.jpg"):
        output(*new, name=name, options=["--keep=xmp,iptc,comment"])
        row = read(name)
        assert row["IPTC:Headline"] == "HARMLESS" and row["XMP-dc:Format"] == "HARMLESS", row
        assert not [key for key in row if "GPS" in key or "City" in key or "Country" in key or "Warning" in key], row


def bombs_of_text():
    """Text that unpacks to more than its limit is left out with a warning, in little memory"""
    bomb = zlib.compress(b"A" * 50_000_000, 9)
    for chunk in ((b"zTXt", b"Comment\0\0" + bomb), (b"iTXt", b"Comment\0\1\0\0\0" + bomb),
                  (b"tEXt", b"Comment\0" + b"A" * 5_000_000), (b"zTXt", b"Comment\0\0damaged"), (b"tEXt", b"no end")):
        png("in.png", 16, 16, 3, noise(768), [chunk, (b"tEXt", b"Title\0TITLE")])
        _, said = lapedge("in.png", "o.jpg", "--no-sync", "--max-memory=20M")
        assert "left out" in said and b"TITLE" in Path("o.jpg").read_bytes(), said
        lapedge("in.png", "none.jpg", "--no-sync", "--fail-on=warning", code=1)
    png("in.png", 16, 16, 3, noise(768), [(b"zTXt", b"Comment\0\0" + zlib.compress(b"A" * 3_000_000))] * 100)
    lapedge("in.png", "o.jpg", "--no-sync")
    png("in.png", 16, 16, 3, noise(768), [itxt(b"XML:com.adobe.xmp", packet("<dc:a>" + "x" * 70000 + "</dc:a>"))])
    _, said = lapedge("in.png", "o.jpg", "--no-sync")
    assert "XMP of" in said and "left out" in said, said
    _, said = lapedge("in.png", "o.png", "--no-sync")
    assert not said and b"x" * 70000 in Path("o.png").read_bytes()


def text_behind_the_picture():
    """Text after the picture comes too late: a warning; not of the dates that ImageMagick writes there"""
    png("in.png", 16, 16, 3, noise(768))
    data = Path("in.png").read_bytes()
    def late(kind, body):
        return data[:-12] + struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) + data[-12:]
    Path("late.png").write_bytes(late(b"tEXt", b"Comment\0late"))
    _, said = lapedge("late.png", "o.jpg", "--no-sync")
    assert "warning" in said and "text after the picture" in said, said
    _, said = lapedge("late.png", "none.jpg", "--no-sync", "--fail-on=warning", code=1)
    assert said.startswith("lapedge: late.png: unsupported: text after the picture is left out"), said
    assert not Path("none.jpg").exists()
    for date in (b"date:create\0" + b"2026-11-23T00:00:00+00:00", b"date:"):
        Path("late.png").write_bytes(late(b"tEXt", date))
        _, said = lapedge("late.png", "o.jpg", "--no-sync")
        assert not said
    Path("late.png").write_bytes(late(*itxt(b"XML:com.adobe.xmp", packet(""))))
    _, said = lapedge("late.png", "o.jpg", "--no-sync")
    assert "warning" in said and "XMP after the picture" in said, said
    _, said = lapedge("late.png", "o.jpg", "--no-sync", "--keep=exif")
    assert not said


def info_lists_it():
    """info lists what a run leaves out, with a list and without one, and -v counts it"""
    new = [segment(0xE1, exif(6)), segment(0xE1, XMP + packet(f"<photoshop:City>{SECRET}</photoshop:City>")),
           segment(0xED, b"Photoshop 3.0\0" + block(0x404, data_set(2, 90, b"Paris"))), segment(0xFE, b"a comment")]
    Path("in.jpg").write_bytes(with_segments(SAMPLE, *new))
    rows = lambda *words: json.loads(lapedge("info", "--json", *words, "in.jpg")[0])["left_out"]
    assert rows() == []
    with_list = rows("--keep=exif,xmp,iptc")
    assert [(row["kind"], row["tag"], row["name"], row["reason"]) for row in with_list] == [
        ("XMP", None, "photoshop:City", "location"), ("IPTC", "2:90", None, "location"), ("comment", None, None, "not in the list")]
    said = lapedge("info", "--keep=exif,xmp,iptc", "in.jpg")[0].decode()
    assert "IPTC 2:90, 5 bytes: location" in said
    assert lapedge("info", "--json", "-", stdin=open("in.jpg", "rb"))[0]
    _, said = lapedge("-v", "in.jpg", "o.jpg", "--no-sync", "--keep=exif,xmp,iptc")
    assert "metadata left out: 1 XMP property, 1 IPTC data set, 1 comment" in re.sub(r"\s+", " ", said), said


if __name__ == "__main__":
    run_all([place_in_xmp, namespaces_count, unsure_xmp, thumbnails_in_xmp, extended_xmp, place_in_iptc, text_of_a_png,
             jpeg_to_png, exiftool_agrees, bombs_of_text, text_behind_the_picture, info_lists_it])
