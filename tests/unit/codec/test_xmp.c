/* XMP packets: what stays of them, byte by byte, and what is reported of the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/xmp.h"
#include "tests/support/drops.h"
#include "tests/support/edge.h"

enum { ROOM = 40000 };
static const lap_xmp_rule PICTURES = LAP_XMP_PICTURES, HARMLESS = LAP_XMP_HARMLESS;

/* NULL expected: the packet is refused, and nothing is reported. */
static void becomes_of(
    const char *packet, size_t size, lap_xmp_rule rule, bool extended, const char *expected, const char *said)
{
    static drops d;
    static uint8_t to[ROOM];
    const uint8_t *from = at_edge(packet, size);
    size_t left = 0;
    const lap_xmp_cleaning cleaning = {.rule = rule, .extended = extended, .drops = drops_begin(&d)},
                           silent = {.rule = rule, .extended = extended};
    memset(to, 0xA5, sizeof to);
    if (lap_xmp_clean(from, size, &cleaning, to, &left) != (expected != NULL))
        fail_msg("%.*s is %s", (int)size, packet, expected ? "refused" : "taken");
    assert_string_equal(drops_text(&d), expected ? said : "");
    if (!expected)
        return;
    to[left] = 0;
    assert_string_equal((char *)to, expected);
    assert_true(lap_xmp_clean(from, size, &silent, to, &left));
}

static void becomes(const char *packet, lap_xmp_rule rule, const char *expected, const char *said)
{
    becomes_of(packet, strlen(packet), rule, true, expected, said);
}

static void stays(const char *packet, lap_xmp_rule rule)
{
    becomes(packet, rule, packet, "");
}

static void is_refused(const char *packet)
{
    becomes(packet, HARMLESS, NULL, "");
    becomes(packet, PICTURES, NULL, "");
}

#define SPACES                                                                            \
    " xmlns:x='adobe:ns:meta/' xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"     \
    " xmlns:d='http://purl.org/dc/elements/1.1/' xmlns:e='http://ns.adobe.com/exif/1.0/'" \
    " xmlns:p='http://ns.adobe.com/photoshop/1.0/' xmlns:o='http://example.org/own/'"     \
    " xmlns:n='http://ns.adobe.com/xmp/note/' xmlns:a='http://ns.adobe.com/xap/1.0/'"     \
    " xmlns:i='http://ns.adobe.com/xap/1.0/g/img/'"
#define IN(inner) "<r:RDF" SPACES "><r:Description" inner "</r:Description></r:RDF>"

static void elements_go_with_their_contents(void **state)
{
    (void)state;
    stays(IN("><d:title><r:Alt><r:li xml:lang='en'>T</r:li></r:Alt></d:title>"), HARMLESS);
    becomes(IN("><p:City o:a='1'>PLACE<d:b/></p:City><d:c>C</d:c>"), HARMLESS, IN("><d:c>C</d:c>"),
        "XMP  p:City -1 16: location\n");
    becomes(IN("><p:City/><o:x>1</o:x ><d:c/>"), HARMLESS, IN("><d:c/>"),
        "XMP  p:City -1 9: location\nXMP  o:x -1 5: unknown property\n");
    becomes(IN("><p:City><p:City>A</p:City>B</p:City><d:c>C</d:c>"), HARMLESS, IN("><d:c>C</d:c>"),
        "XMP  p:City -1 8: location\n");
    becomes(IN("><d:a><p:City>A</p:City></d:a><d:c>C</d:c>"), HARMLESS, IN("><d:a></d:a><d:c>C</d:c>"),
        "XMP  p:City -1 8: location\n");
    stays(IN("><p:City o:a='1'>PLACE<d:b/></p:City><d:c>C</d:c>"), PICTURES);
    becomes(IN("><e:Pressure>1</e:Pressure><e:gps>1</e:gps><e:GPSx/><e:GP/><d:coverage/><d:cover/>"),
        HARMLESS, IN("><e:GP/><d:cover/>"),
        "XMP  e:Pressure -1 12: location\nXMP  e:gps -1 7: location\nXMP  e:GPSx -1 9: location\n"
        "XMP  d:coverage -1 13: location\n");
}

/* In each known namespace, properties are kept, except those that tell a place or hold metadata of
 * others. */
static void known_namespaces(void **state)
{
    (void)state;
    static const struct {
        const char *uri, *goes[11];
    } known[] = {{"http://purl.org/dc/elements/1.1/", {"coverage"}}, {"http://ns.adobe.com/xap/1.0/", {0}},
        {"http://ns.adobe.com/xap/1.0/rights/", {0}}, {"http://ns.adobe.com/xap/1.0/mm/", {"Pantry"}},
        {"http://ns.adobe.com/xap/1.0/sType/ResourceEvent#", {0}},
        {"http://ns.adobe.com/xap/1.0/sType/ResourceRef#", {0}},
        {"http://ns.adobe.com/xap/1.0/sType/Version#", {0}},
        {"http://ns.adobe.com/xap/1.0/sType/Dimensions#", {0}}, {"http://ns.adobe.com/xap/1.0/t/pg/", {0}},
        {"http://ns.adobe.com/xmp/note/", {0}}, {"http://ns.adobe.com/tiff/1.0/", {0}},
        {"http://ns.adobe.com/exif/1.0/", {"Pressure", "WaterDepth"}},
        {"http://cipa.jp/exif/1.0/", {"Pressure", "WaterDepth"}}, {"http://ns.adobe.com/exif/1.0/aux/", {0}},
        {"http://ns.adobe.com/photoshop/1.0/", {"City", "State", "Country"}},
        {"http://ns.adobe.com/camera-raw-settings/1.0/", {0}},
        {"http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/", {"Location", "CountryCode"}},
        {"http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
            {"LocationCreated", "LocationShown", "LocationId", "LocationName", "City", "CountryCode",
                "CountryName", "ProvinceState", "Sublocation", "WorldRegion"}},
        {"http://ns.useplus.org/ldf/xmp/1.0/", {0}}, {"http://creativecommons.org/ns#", {0}}};
    static const char before[] = "<r:RDF" SPACES "><r:Description xmlns:z='%s'><d:b/>",
                      after[] = "<d:c/></r:Description></r:RDF>";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char head[900], packet[1200], left[1200], said[120];
        snprintf(head, sizeof head, before, known[i].uri);
        snprintf(packet, sizeof packet, "%s<z:own>1</z:own><z:Cit/><z:City2/>%s", head, after);
        stays(packet, HARMLESS);
        snprintf(packet, sizeof packet, "%s<z:GPSPlace/>%s", head, after);
        snprintf(left, sizeof left, "%s%s", head, after);
        becomes(packet, HARMLESS, left, "XMP  z:GPSPlace -1 13: location\n");
        for (const char *const *goes = known[i].goes; *goes; goes++) {
            snprintf(packet, sizeof packet, "%s<z:%s/>%s", head, *goes, after);
            snprintf(said, sizeof said, "XMP  z:%s -1 %zu: location\n", *goes, strlen(*goes) + 5);
            becomes(packet, HARMLESS, left, said);
        }
    }
}

static void attributes_go_alone(void **state)
{
    (void)state;
    becomes(IN(" p:City='A'  o:b = \"B\" d:c=\n'C' p:State='D'>"), HARMLESS, IN(" d:c=\n'C'>"),
        "XMP  p:City -1 11: location\nXMP  o:b -1 11: unknown property\nXMP  p:State -1 12: location\n");
    stays(IN(" p:City='A'  o:b = \"B\" d:c=\n'C' p:State='D'\n>"), PICTURES);
    stays(IN(" about='' ID='1' parseType='R' resource='x' xml:lang='en'\t>"), HARMLESS);
    becomes(IN(" About='' id='1'>"), HARMLESS, IN(">"),
        "XMP  About -1 9: unknown property\nXMP  id -1 7: unknown property\n");
    stays(IN(" About='' id='1'>"), PICTURES);
    becomes(
        IN("><d:a p:City='A' d:b='/'/>"), HARMLESS, IN("><d:a d:b='/'/>"), "XMP  p:City -1 11: location\n");
}

static void pictures_go_by_either_rule(void **state)
{
    (void)state;
    for (lap_xmp_rule rule = LAP_XMP_PICTURES; rule <= LAP_XMP_HARMLESS; rule++) {
        becomes(IN(" d:a='/9j/' d:b=' \n/9j/x' d:c='/9j' d:d='x/9j/'>"), rule, IN(" d:c='/9j' d:d='x/9j/'>"),
            "XMP  d:a -1 11: thumbnail\nXMP  d:b -1 14: thumbnail\n");
        becomes(IN("><d:a>\t/9j/x</d:a><d:b>/9j</d:b><d:c/>"), rule, IN("><d:b>/9j</d:b><d:c/>"),
            "XMP  d:a -1 5: thumbnail\n");
        becomes(IN("><d:a><d:b/>\n/9j/x</d:a><d:c>x/9j/</d:c>"), rule,
            IN("><d:a><d:b/></d:a><d:c>x/9j/</d:c>"), "XMP  d:a -1 6: thumbnail\n");
        becomes(IN("><d:a><!--1-->/9j/x</d:a><p:City><d:b/>/9j/x</p:City>"), rule,
            rule == LAP_XMP_PICTURES ? IN("><d:a><!--1--></d:a><p:City><d:b/></p:City>") : IN("><d:a></d:a>"),
            rule == LAP_XMP_PICTURES ? "XMP  d:a -1 5: thumbnail\nXMP  p:City -1 5: thumbnail\n"
                                     : "XMP  d:a -1 5: thumbnail\nXMP  p:City -1 8: location\n");
        becomes(IN("><a:Thumbnails><i:image>x</i:image></a:Thumbnails><a:Rating>1</a:Rating>"), rule,
            IN("><a:Rating>1</a:Rating>"), "XMP  a:Thumbnails -1 14: thumbnail\n");
        becomes(IN("><d:b i:image='x' d:c='1'/>"), rule, IN("><d:b d:c='1'/>"),
            "XMP  i:image -1 12: thumbnail\n");
        for (int i = 0; i < 2; i++) {
            char from[200], to[200];
            const char *form = "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
                               "xmlns:g='http://ns.google.com/photos/1.0/%s/'>%s</r:RDF>";
            snprintf(from, sizeof from, form, i ? "image" : "depthmap", "<g:Data/>");
            snprintf(to, sizeof to, form, i ? "image" : "depthmap", "");
            becomes(from, rule, to, "XMP  g:Data -1 9: thumbnail\n");
        }
        becomes(IN("><e:MakerNote>1</e:MakerNote><d:c e:MakerNote='2'/>"), rule, IN("><d:c/>"),
            "XMP  e:MakerNote -1 13: maker's note\nXMP  e:MakerNote -1 16: maker's note\n");
        becomes("<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
                "<Thumbnails xmlns='http://ns.adobe.com/xap/1.0/'>iVBOR</Thumbnails></r:RDF>",
            rule, "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'></r:RDF>",
            "XMP  Thumbnails -1 49: thumbnail\n");
        is_refused("<r:RDF xmlns:r='/9j/'/>");
    }
    static const struct {
        const char *before;
        bool is_photo;
    } values[] = {{"data:image/jpeg;base64,", true}, {"data:,", true},
        {"\tDATA:image/jpeg;base64, &#xA;", true}, {"&#xA;", true},
        {"&#xa; &#9;&#10;&#13;&#32;&#x9;&#xD;&#x20;", true}, {"data:", false}, {"data", false},
        {"&#xB;", false}, {"&#xA", false}, {"&#", false}, {"dato:,", false}, {"data:,.", false},
        {"data:,data:,", false}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (lap_xmp_rule rule = LAP_XMP_REFERENCE; rule <= LAP_XMP_HARMLESS; rule++) {
            char from[2000], said[200];
            const bool goes = values[i].is_photo && rule != LAP_XMP_REFERENCE;
            snprintf(from, sizeof from, IN("><d:a>%s/9j/x</d:a><d:c/>"), values[i].before);
            becomes(from, rule, goes ? IN("><d:c/>") : from, goes ? "XMP  d:a -1 5: thumbnail\n" : "");
            snprintf(from, sizeof from, IN(" d:a='%s/9j/x'>"), values[i].before);
            snprintf(said, sizeof said, "XMP  d:a -1 %zu: thumbnail\n", 12 + strlen(values[i].before));
            becomes(from, rule, goes ? IN(">") : from, goes ? said : "");
        }
    static const char *const signs[] = {
        "/9j/", "xap/1.0/g/img/", "Thumbnails", "photos/1.0/image/", "photos/1.0/depthmap/", "MakerNote"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const size_t size = strlen(signs[i]);
        char text[40];
        snprintf(text, sizeof text, "ab%s", signs[i]);
        assert_true(lap_xmp_has_picture(at_edge(text, size + 2), size + 2));
        assert_false(lap_xmp_has_picture(at_edge(text, size + 1), size + 1));
        for (size_t wide = 2; wide <= 4; wide *= 2) /* UTF-16 and UTF-32, of both byte orders */
            for (size_t first = 0; first < wide; first += wide - 1) {
                char spread[200] = {0};
                const size_t end = first + (size - 1) * wide + 1;
                for (size_t k = 0; k < size; k++)
                    spread[first + k * wide] = signs[i][k];
                assert_true(lap_xmp_has_picture(at_edge(spread, end), end));
                assert_false(lap_xmp_has_picture(at_edge(spread, end - 1), end - 1));
            }
    }
    assert_false(lap_xmp_has_picture(at_edge("", 0), 0));
}

/* Of a text without its pictures, the caller learns whether that leaves any property. */
static void the_last_property_is_noticed(void **state)
{
    (void)state;
    static const struct {
        const char *packet;
        bool keeps_any;
    } packets[] = {{IN("><d:a>1</d:a>"), true}, {IN("><d:a/>"), true}, {IN(" d:a='1'>"), true},
        {IN(">"), false}, {IN(" r:about='' xml:lang='en'><r:Bag><r:li/></r:Bag>"), false},
        {IN("><d:a>/9j/</d:a>"), false}, {IN("><d:a o:b='1'>/9j/<d:b/></d:a>"), false},
        {IN(" d:a='/9j/'>"), false}, {"<x:xmpmeta xmlns:x='adobe:ns:meta/' x:xmptk='1'/>", false}};
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        uint8_t to[2000];
        size_t left;
        bool keeps_any = !packets[i].keeps_any;
        const lap_xmp_cleaning cleaning = {.rule = PICTURES, .keeps_any = &keeps_any};
        assert_true(lap_xmp_clean(
            (const uint8_t *)packets[i].packet, strlen(packets[i].packet), &cleaning, to, &left));
        if (keeps_any != packets[i].keeps_any)
            fail_msg("%s", packets[i].packet);
    }
}

static void only_the_reference_goes(void **state)
{
    (void)state;
    static const char from[] =
        IN(" n:HasExtendedXMP='0' d:a='/9j/'><a:Thumbnails/>word<!--c--><d:b>/9j/</d:b>"
           "<e:MakerNote/><p:City>1</p:City>"),
                      to[] = IN(" d:a='/9j/'><a:Thumbnails/>word<!--c--><d:b>/9j/</d:b>"
                                "<e:MakerNote/><p:City>1</p:City>");
    becomes_of(from, sizeof from - 1, LAP_XMP_REFERENCE, false, to,
        "XMP  n:HasExtendedXMP -1 21: its continuation is left out\n");
    becomes_of(from, sizeof from - 1, LAP_XMP_REFERENCE, true, from, "");
}

static void a_continuation_goes_with_its_parts(void **state)
{
    (void)state;
    static const char whole[] = IN(" n:HasExtendedXMP='0' n:Other='1' d:HasExtendedXMP='2'>");
    for (lap_xmp_rule rule = LAP_XMP_REFERENCE; rule <= LAP_XMP_HARMLESS; rule++) {
        becomes_of(whole, sizeof whole - 1, rule, true, whole, "");
        becomes_of(whole, sizeof whole - 1, rule, false, IN(" n:Other='1' d:HasExtendedXMP='2'>"),
            "XMP  n:HasExtendedXMP -1 21: its continuation is left out\n");
    }
}

static void prefixes_mean_what_is_declared_around(void **state)
{
    (void)state;
    becomes(IN("><d:a xmlns:d='http://ns.adobe.com/photoshop/1.0/'><d:City/></d:a><d:City/>"), HARMLESS,
        IN("><d:a xmlns:d='http://ns.adobe.com/photoshop/1.0/'></d:a><d:City/>"),
        "XMP  d:City -1 9: location\n");
    becomes(IN("><d:a><d:b xmlns:d='http://ns.adobe.com/photoshop/1.0/'/><d:City/></d:a>"), HARMLESS,
        IN("><d:a><d:b xmlns:d='http://ns.adobe.com/photoshop/1.0/'/><d:City/></d:a>"), "");
    becomes(IN("><City xmlns='http://ns.adobe.com/photoshop/1.0/'>A</City><d:c/>"), HARMLESS, IN("><d:c/>"),
        "XMP  City -1 49: location\n");
    becomes(IN("><City>A</City>"), HARMLESS, IN(">"), "XMP  City -1 6: unknown property\n");
    is_refused(IN("><q:City/>"));
    is_refused(IN(" q:City='1'>"));
    is_refused(IN("><d:a xmlns:z='http://purl.org/dc/elements/1.1/'/><z:b/>"));
    is_refused(IN("><d:a xmlns:z='a&amp;b'/>"));
    is_refused(IN("><d:a xmlns:='x'/>"));
    is_refused(IN("><xmlns:a/>"));
}

static void what_is_no_plain_xml_is_refused(void **state)
{
    (void)state;
    static const char *const inner[] = {">x <d:a", "><", "><!", "><!-- ", "><!--->", "><!-x-->", "><?",
        "><?x >", "><d:a></d:b>", "><d:a></d:aa>", "><d:a", "><d:a/", "><d:a/ >", "><d:a ", "><d:a></d:a",
        "><d:a></d:a x>", "><d:a b>", "><d:a b=>", "><d:a b=1>", "><d:a b='1>", "><d:a b='<'/>",
        "><d:a b='1'c='2'/>", "><d:a ='1'/>", "><d:a b", "><d:a b=", "><d:a b='", "><d:a b ' '/>", ">< d:a/>",
        "></ >", "><![CDATA[x]]>", "><!DOCTYPE x>", "><d:a>"};
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        char packet[2000];
        snprintf(packet, sizeof packet, IN("%s"), inner[i]);
        is_refused(packet);
        snprintf(packet, sizeof packet, "<r:RDF" SPACES "><r:Description%s", inner[i]);
        is_refused(packet); /* and at the end of the bytes */
    }
    is_refused("</a>");
    stays("<_aAzZ09.-\xC3\xA9\x80:aAzZ09.-_ xmlns:_aAzZ09.-\xC3\xA9\x80='http://purl.org/dc/elements/1.1/'/>",
        HARMLESS);
    static const char others[] = "@[`{/;,+$";
    for (const char *c = others; *c; c++) {
        char packet[80];
        snprintf(packet, sizeof packet, "<d%c:b xmlns:d='http://purl.org/dc/elements/1.1/'/>", *c);
        is_refused(packet);
    }
    is_refused("<r:RDF" SPACES "/></r:RDF>");
    is_refused("<r:RDF" SPACES ">");
    stays("", HARMLESS);
    stays("<r:RDF" SPACES "/>", HARMLESS);
    stays("<r:RDF" SPACES " \n/>\n", HARMLESS);
    stays("<r:RDF" SPACES " ></r:RDF\t>", HARMLESS);
}

static void text_between_properties_is_blank(void **state)
{
    (void)state;
    static const char *const around[] = {"<x:xmpmeta" SPACES ">%s<r:RDF>%s<r:Description>%s<d:a>v</d:a>%s"
                                         "</r:Description>%s</r:RDF></x:xmpmeta>%s"};
    static const char *const blank[] = {"", " \t\r\n", "\xEF\xBB\xBF"};
    for (int place = 0; place < 6; place++)
        for (int i = 0; i <= 3; i++) {
            char packet[2000];
            const char *in[6] = {"", "", "", "", "", ""};
            in[place] = i < 3 ? blank[i] : " word ";
            snprintf(packet, sizeof packet, around[0], in[0], in[1], in[2], in[3], in[4], in[5]);
            stays(packet, PICTURES);
            becomes(packet, HARMLESS, i < 3 ? packet : NULL, "");
        }
    stays(IN("><r:Bag>text<r:li>x</r:li></r:Bag>"), HARMLESS); /* a value */
    static const char zeros[] = "\0<d:a xmlns:d='http://purl.org/dc/elements/1.1/'/>\0";
    becomes_of(zeros, sizeof zeros - 1, HARMLESS, true, "", "");
    static const char inside[] = IN(">\0");
    becomes_of(inside, sizeof inside - 1, HARMLESS, true, NULL, "");
}

static void asides_of_packets_stay(void **state)
{
    (void)state;
    char packet[300], long_one[100] = "";
    stays(
        "<?xpacket begin=''?><d:a xmlns:d='http://purl.org/dc/elements/1.1/'/><?xpacket end='w'?>", HARMLESS);
    stays("<!-- c --><?xp x?><?xpackets?>", PICTURES);
    becomes("<!-- c --> <?xp x?><?xpackets?> <!-- <a> -->", HARMLESS, "  ", "");
    for (int more = 0; more < 2; more++) {
        memset(long_one, '-', sizeof long_one);
        long_one[79 - 12 + more] = 0;
        snprintf(packet, sizeof packet, "<?xpacket %s?>", long_one);
        assert_int_equal(strlen(packet), 79 + more);
        becomes(packet, HARMLESS, more ? "" : packet, "");
    }
}

/* Text of `count` copies, with numbers. */
static char *many(const char *head, const char *each, int count, const char *tail)
{
    char *text = malloc(strlen(head) + (strlen(each) + 12) * (size_t)count + strlen(tail) + 1);
    assert_non_null(text);
    size_t length = (size_t)sprintf(text, "%s", head);
    for (int i = 0; i < count; i++)
        length += (size_t)sprintf(text + length, each, i);
    sprintf(text + length, "%s", tail);
    return text;
}

static void depth_names_and_numbers_have_limits(void **state)
{
    (void)state;
    static const char head[] = "<d:a xmlns:d='http://purl.org/dc/elements/1.1/'", end[] = "</d:a>";
    for (int more = 0; more < 2; more++) {
        char text[2000] = "";
        snprintf(text, sizeof text, "%s>", head);
        for (int i = 0; i < 62 + more; i++)
            strcat(text, "<d:b>");
        for (int i = 0; i < 62 + more; i++)
            strcat(text, "</d:b>");
        strcat(text, end);
        becomes(text, HARMLESS, more ? NULL : text, "");
        char *bound = many(head, " xmlns:d%d='x'", 127 + more, "/>");
        becomes(bound, HARMLESS, more ? NULL : bound, "");
        free(bound);
        char *with = many(head, " d:b%d='x'", 511 + more, "/>");
        becomes(with, HARMLESS, more ? NULL : with, "");
        free(with);
        char name[100] = "", packet[400], said[200];
        memset(name, 'n', 79 + (size_t)more);
        snprintf(packet, sizeof packet, "%s><d:%s/>%s", head, name, end);
        snprintf(said, sizeof said, "XMP  d:%.77s -1 85: location\n", name);
        char without[400];
        snprintf(without, sizeof without, "%s>%s", head, end);
        becomes(packet, HARMLESS, more ? without : packet, more ? said : "");
        memset(name, 0, sizeof name);
        memset(name, 'n', 75 + (size_t)more + 1); /* told whole up to 79 characters */
        snprintf(packet, sizeof packet, "%s><GPS%s/>%s", head, name, end);
        snprintf(said, sizeof said, "XMP  GPS%.76s -1 %d: unknown property\n", name, 82 + more);
        becomes(packet, HARMLESS, without, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_go_with_their_contents),
        cmocka_unit_test(known_namespaces),
        cmocka_unit_test(attributes_go_alone),
        cmocka_unit_test(pictures_go_by_either_rule),
        cmocka_unit_test(a_continuation_goes_with_its_parts),
        cmocka_unit_test(the_last_property_is_noticed),
        cmocka_unit_test(only_the_reference_goes),
        cmocka_unit_test(prefixes_mean_what_is_declared_around),
        cmocka_unit_test(what_is_no_plain_xml_is_refused),
        cmocka_unit_test(text_between_properties_is_blank),
        cmocka_unit_test(asides_of_packets_stay),
        cmocka_unit_test(depth_names_and_numbers_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
