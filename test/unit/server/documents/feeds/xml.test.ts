// XML feeds: which elements are items and how they are converted. A well-formedness error fails only its
// item, or the whole feed if the rest cannot be trusted. Document type declarations are not trusted.

import { describe, expect, test } from "vitest";
import { xmlItems } from "../../../../../server/documents/feeds/xml-items.js";
import { all, cutText, read, refusal, type Settings, values } from "./read.js";

const rss = (items: string, head = "") =>
  `<?xml version="1.0"?>${head}<rss xmlns:g="http://base.google.com/ns/1.0"><channel><title>Shop</title>${items}</channel></rss>`;
const one = async (members: string) => (await values("brandx_merchant", rss(`<item>${members}</item>`)))[0];

async function refused(xml: string, settings: Settings = {}): Promise<string> {
  try {
    await read("brandx_merchant", xml, settings);
  } catch (error) {
    return `${(error as { code: string }).code} ${(error as Error).message}`;
  }
  return "read";
}

describe("items", () => {
  test.each<[what: string, xml: string]>([
    ["RSS 2.0", rss("<item><id>1</id></item>\n<item><id>2</id></item>")],
    [
      "RSS 1.0",
      `<rdf:RDF xmlns:rdf="x"><channel><items><rdf:Seq/></items></channel><item><id>1</id></item><item><id>2</id></item></rdf:RDF>`,
    ],
    ["Atom", `<feed><id>f</id><entry><id>1</id></entry><entry><id>2</id></entry></feed>`],
    [
      "Atom with a prefix",
      `<a:feed xmlns:a="x"><a:entry><id>1</id></a:entry><a:entry><id>2</id></a:entry></a:feed>`,
    ],
    [
      "Meta listings",
      `<listings><title>x</title><listing><id>1</id></listing><listing><id>2</id></listing></listings>`,
    ],
    ["a list of products", `<products><product><id>1</id></product><product><id>2</id></product></products>`],
    [
      "a byte order mark, a comment and a DOCTYPE first",
      `\ufeff<?xml version="1.0"?><!-- <item/> --><!DOCTYPE rss [<!ENTITY a "<item>'>"> <!-- ' ]> --> <?p ' ]>?>]><rss><item><id>1</id></item><item><id>2</id></item></rss><!-- end -->\n`,
    ],
  ])("%s", async (_, xml) => {
    expect(await values("brandx_catalog", xml)).toEqual([{ id: "1" }, { id: "2" }]);
  });

  test("a document whose root is a single entry has one item", async () => {
    expect(await values("brandx_merchant", "<entry><id>1</id></entry>")).toEqual([{ id: "1" }]);
    expect(await values("brandx_merchant", "<item/>")).toEqual([{}]);
  });

  test.each<[path: string, ids: string[]]>([
    ["product", ["1", "2", "3"]],
    ["p:product", ["2"]],
    ["products/product", ["1", "2"]],
    ["shop/products/product", ["1", "2"]],
    ["/shop/products/product", ["1", "2"]],
    ["shop/product", ["3"]],
  ])("items_path %s", async (itemsPath, ids) => {
    const xml = `<shop><item>no</item><products><product id="1"/><p:product id="2"/></products><product id="3"/></shop>`;
    expect(await values("brandx_catalog", xml, { itemsPath })).toEqual(ids.map((id) => ({ id })));
  });

  test("an item may contain elements with its own name", async () => {
    const xml = "<list><product><id>1</id><product><id>2</id></product></product></list>";
    expect(await values("brandx_catalog", xml)).toEqual([{ id: "1", product: { id: "2" } }]);
  });

  test("an empty feed is accepted, a document that is not a feed is refused", async () => {
    expect(await values("brandx_merchant", rss(""))).toEqual([]);
    expect(await refused("<Error><Code>AccessDenied</Code></Error>")).toBe(
      "SK-DS-422 the feed has no items: its root is <Error>, which contains no <item> or <entry>; set items_path",
    );
    expect(await refused(rss("<item/>"), { itemsPath: "offers/offer" })).toBe(
      'SK-DS-422 the feed has no element "offers/offer"; check items_path',
    );
    expect(await refused("<!DOCTYPE html><html><body><p>Log in<br></body></html>")).toBe(
      "SK-DS-422 the feed is an HTML page; does its address need a login?",
    );
  });
});

describe("values", () => {
  test("CDATA and text are joined; entities become characters, HTML's too; unknown entities stay", async () => {
    expect(await one("<t>a&amp;b <![CDATA[<c> &amp; ]]>d</t>")).toEqual({ t: "a&b<c> &amp; d" });
    expect(
      await one("<t>&lt;b&gt; &quot;&apos; &#228;&#xE4;&#x1F600; &nbsp;&euro;&auml;&hellip;</t>"),
    ).toEqual({
      t: "<b> \"' ää😀 \u00a0€ä…",
    });
    expect(await one("<t>AT&T &unknown; &#0; &#xD800; &#x110000; &;</t>")).toEqual({
      t: "AT&T &unknown; &#0; &#xD800; &#x110000; &;",
    });
  });

  test("values stay strings, trimmed, empty ones empty", async () => {
    expect(await one("<a> 0012.50 </a><b>true</b><c/><d></d><e>  </e><f>1e5</f>")).toEqual({
      a: "0012.50",
      b: "true",
      c: "",
      d: "",
      e: "",
      f: "1e5",
    });
  });

  test("prefixes stay, repeated elements become arrays, nested ones objects", async () => {
    expect(
      await one(
        "<g:id>1</g:id><c:x>y</c:x><g:shipping><g:country>US</g:country></g:shipping><g:shipping><g:country>DE</g:country></g:shipping>",
      ),
    ).toEqual({ "g:id": "1", "c:x": "y", "g:shipping": [{ "g:country": "US" }, { "g:country": "DE" }] });
  });

  test("attributes are used if there is no text", async () => {
    expect(await one('<title type="html">a</title><price currency="EUR">5</price>')).toEqual({
      title: "a",
      price: "5",
    });
    expect(await one('<enclosure url="http://x/1.jpg" length="3"/><size w="1" h="a&gt;b>c"/>')).toEqual({
      enclosure: "http://x/1.jpg",
      size: { w: "1", h: "a>b>c" },
    });
    expect(
      await values(
        "brandx_merchant",
        '<rss><item id="7" xmlns:g="x" title="no"><title>a</title></item></rss>',
      ),
    ).toEqual([{ id: "7", title: "a" }]);
  });

  test("among several links, the page's link comes first", async () => {
    const self = '<link rel="self" href="http://x/self"/>';
    expect(await one(`${self}<link rel="alternate" href="http://x/page"/>`)).toEqual({
      link: ["http://x/page", "http://x/self"],
    });
    expect(await one(`${self}<link href="http://x/page"/>`)).toEqual({
      link: ["http://x/page", "http://x/self"],
    });
    expect(await one(self)).toEqual({ link: "http://x/self" });
  });

  test("tags within a text are dropped, their words stay", async () => {
    expect(await one("<d>a <b>bold</b> word</d>")).toEqual({ d: "a bold word" });
    expect(await one('<content type="xhtml"><div><p>one</p><p>two</p></div></content>')).toEqual({
      content: "one two",
    });
    expect(await one("stray<id>1</id>text")).toEqual({ id: "1" });
  });

  test("comments and processing instructions in an item are ignored", async () => {
    expect(await one("<!-- it's <b> --><id>1</id><?php it's > ?><t>a<!-- x -->b</t>")).toEqual({
      id: "1",
      t: "ab",
    });
  });

  test("JavaScript names are ordinary names", async () => {
    const names = ["__proto__", "constructor", "prototype", "hasOwnProperty", "toString", "valueOf"];
    for (const name of names) {
      const [item] = await read(
        "brandx_merchant",
        rss(`<item><${name}>x</${name}><a ${name}="1"/><b><${name}/></b></item>`),
      );
      expect(Object.entries(item!.value!).slice(0, 1)).toEqual([[name, "x"]]);
      expect(Object.keys(item!.value!)).toEqual([name, "a", "b"]);
      expect(Object.entries(item!.value!.a as object)).toEqual([[name, "1"]]);
    }
    expect(({} as { x?: string }).x).toBeUndefined();
  });
});

describe("malformed XML", () => {
  test.each<[item: string, problem: string]>([
    ["<a>x</b>", "item is not well-formed: </b> where </a> was expected"],
    ["<a>x", "item is not well-formed: </item> where </a> was expected"],
    ["<a>x</a></b>", "item is not well-formed: </b> where </item> was expected"],
    ["<a>5 < 6</a>", "item is not well-formed: a < that opens no tag"],
    ["<a b='<'>x</a>", "item is not well-formed: a broken tag <a"],
    ['<a b="x>x</a>', "item is not well-formed: a broken tag <a"],
    ["<a <b>x</b></a>", "item is not well-formed: a broken tag <a"],
    ["<a href=http://x>x</a>", "item is not well-formed: a broken tag <a"],
    ["<a>x</ a>", "item is not well-formed: a </ that closes nothing"],
    ["<![INCLUDE[x]]>", "item is not well-formed: an unknown <! declaration"],
    ["<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "item is not well-formed: a DOCTYPE in an element"],
  ])("%s fails, the other items are read", async (item, problem) => {
    const xml = rss(`<item><id>1</id></item><item>${item}</item><item><id>3</id></item>`);
    expect(await values("brandx_merchant", xml)).toEqual([{ id: "1" }, problem, { id: "3" }]);
  });

  test.each<[xml: string, message: string]>([
    ["id,title\n1,x", "the feed is not XML at line 1: text outside the root element"],
    ["\n\n  hello", "the feed is not XML at line 3: text outside the root element"],
    ['{"id":1}', "the feed is not XML at line 1: text outside the root element"],
    ["<rss>\n<channel>\n</rss>", "the feed is not XML at line 3: </rss> where </channel> was expected"],
    [
      "<rss><item>\n<id>1</id>\n<item><id>2</id></item></rss>",
      "the feed is not XML at line 3: </rss> where </item> was expected",
    ],
    ["<rss>\n<a b='<'/></rss>", "the feed is not XML at line 2: a broken tag <a"],
    ["<rss></rss>\n<rss></rss>", "the feed is not XML at line 2: <rss> follows the end of the root element"],
    ["<rss/>x", "the feed is not XML at line 1: text outside the root element"],
    ["</rss>", "the feed is not XML at line 1: </rss> closes nothing"],
  ])("%j ends the feed", async (xml, message) => {
    expect(await refused(xml)).toBe(`SK-DS-422 ${message}`);
  });
});

describe("hostile documents", () => {
  test("entities defined in the document are never resolved, nor are external ones", async () => {
    const laughs = Array.from({ length: 30 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join(
      "",
    );
    const head = `<!DOCTYPE rss SYSTEM "file:///etc/passwd" [<!ENTITY l0 "lol">${laughs}<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY % p SYSTEM "http://127.0.0.1/p"> %p;]>`;
    expect(await values("brandx_merchant", rss("<item><a>&l30;</a><b>&x;</b></item>", head))).toEqual([
      { a: "&l30;", b: "&x;" },
    ]);
  });

  test("elements nested 10,000 deep fail their item, and end the feed outside items", async () => {
    const deep = `${"<a>".repeat(10_000)}${"</a>".repeat(10_000)}`;
    expect(await values("brandx_merchant", rss(`<item>${deep}</item><item><id>2</id></item>`))).toEqual([
      "item has elements nested more than 64 deep",
      { id: "2" },
    ]);
    expect(await refused(`<rss>${deep}</rss>`)).toBe(
      "SK-DS-422 the feed is not XML at line 1: elements are nested more than 64 deep",
    );
  });

  test.each<[what: string, item: string]>([
    ["an attribute", `<a b="${"x".repeat(5_000_000)}"/>`],
    ["a text", `<a>${"x".repeat(5_000_000)}</a>`],
    ["a comment", `<!--${"x".repeat(5_000_000)}-->`],
    ["CDATA", `<a><![CDATA[${"<".repeat(5_000_000)}]]></a>`],
    ["children", "<a/>".repeat(1_250_000)],
    ["two-byte letters", `<a>${"ä".repeat(600_000)}</a>`],
  ])("%s of more than 1 MiB: the item fails", async (_, item) => {
    const xml = rss(`<item><id>1</id></item><item>${item}</item><item><id>3</id></item>`);
    expect(await values("brandx_merchant", xml)).toEqual([
      { id: "1" },
      "item is larger than 1048576 bytes",
      { id: "3" },
    ]);
  });

  test("an attribute or a comment of 5 MB outside items is skipped", async () => {
    const xml = rss(
      `<x a="${"y".repeat(5_000_000)}"/><!--${"y".repeat(5_000_000)}--><item><id>1</id></item>`,
    );
    expect(await values("brandx_merchant", xml)).toEqual([{ id: "1" }]);
  });

  test("an endless name is refused", async () => {
    expect(await refused(`<${"x".repeat(100_000)}`)).toBe(
      "SK-DS-422 the feed is not XML at line 1: a < that opens no tag",
    );
  });
});

describe("chunks", () => {
  const FEED = rss(
    `<item g:x="1>2"><id>1</id><t><![CDATA[<a>]]]></t><e/></item><!-- <item> --><item><id>2</b></item><item><d>a&amp;b</d></item>`,
    `<!DOCTYPE rss [<!-- ' --><!ENTITY a "]>">]>`,
  );

  test("the items are the same wherever the text is cut in two or three", async () => {
    const items = await all(xmlItems(cutText(FEED, [FEED.length]), null, 1000));
    expect(items).toHaveLength(3);
    for (let first = 1; first < FEED.length; first++) {
      expect(await all(xmlItems(cutText(FEED, [first, FEED.length]), null, 1000))).toEqual(items);
      expect(await all(xmlItems(cutText(FEED, [first, 1, FEED.length]), null, 1000))).toEqual(items);
    }
    for (const size of [1, 2, 3, 5, 7])
      expect(await all(xmlItems(cutText(FEED, [size]), null, 1000))).toEqual(items);
  });

  test("a feed that ends early is refused wherever it ends, after the correct items", async () => {
    const items = await all(xmlItems(cutText(FEED, [FEED.length]), null, 1000));
    for (let length = 0; length < FEED.length; length++) {
      const { code, items: before } = await refusal(
        xmlItems(cutText(FEED.slice(0, length), [11]), null, 1000) as never,
      );
      expect(code).toBe("SK-DS-520");
      expect(before).toEqual(items.slice(0, before.length));
    }
  });

  test("a longer feed is refused when cut at every 1,000th byte", async () => {
    const feed = rss(
      Array.from(
        { length: 2_000 },
        (_, i) => `<item><g:id>${i}</g:id><title>Coat ${i}</title></item>\n`,
      ).join(""),
    );
    const items = await all(xmlItems(cutText(feed, [65536]), null, 1000));
    expect(items).toHaveLength(2_000);
    for (let length = 1000; length < feed.length; length += 1000) {
      const { code, items: before } = await refusal(
        xmlItems(cutText(feed.slice(0, length), [4096]), null, 1000) as never,
      );
      expect(code).toBe("SK-DS-520");
      expect(before).toEqual(items.slice(0, before.length));
    }
  });
});
