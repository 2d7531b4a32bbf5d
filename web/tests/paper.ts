// Reads the texts of Chromium's PDFs. A chart that is drawn while the page is printed is in them as lines and texts.

import { inflateSync } from "node:zlib";

/** The texts of a PDF, in the order in which they are drawn. */
export function textsOf(pdf: Buffer): string[] {
  const text = pdf.toString("latin1");
  const streams = new Map<string, string>();
  for (const found of text.matchAll(/(\d+) 0 obj\s*<<((?:(?!endobj)[\s\S])*?)>>\s*stream\r?\n/g)) {
    const start = found.index + found[0].length;
    const bytes = pdf.subarray(start, text.indexOf("endstream", start));
    try {
      streams.set(found[1], (found[2].includes("FlateDecode") ? inflateSync(bytes) : bytes).toString("latin1"));
    } catch {
      // Images have other forms.
    }
  }
  const fonts = new Map<string, Map<number, string>>();
  for (const [, number, names] of text.matchAll(/(\d+) 0 obj\s*<<\/Type \/Font\b(?!D)(?:(?!endobj)[\s\S])*?\/ToUnicode (\d+) 0 R/g)) {
    fonts.set(`F${number}`, letters(streams.get(names) ?? ""));
  }
  return [...streams.values()].flatMap((content) => [...content.matchAll(/\bBT\b([\s\S]*?)\bET\b/g)].map(([, block]) => told(block, fonts)));
}

/** The letter of each glyph. */
function letters(map: string): Map<number, string> {
  const found = new Map<number, string>();
  const hex = (digits: string) => parseInt(digits, 16);
  for (const [, block] of map.matchAll(/beginbfchar([\s\S]*?)endbfchar/g)) {
    for (const [, glyph, letter] of block.matchAll(/<(\w+)>\s*<(\w+)>/g)) found.set(hex(glyph), String.fromCodePoint(hex(letter.slice(0, 4))));
  }
  for (const [, block] of map.matchAll(/beginbfrange([\s\S]*?)endbfrange/g)) {
    for (const [, first, last, letter] of block.matchAll(/<(\w+)>\s*<(\w+)>\s*<(\w+)>/g)) {
      for (let glyph = hex(first); glyph <= hex(last); glyph++) found.set(glyph, String.fromCodePoint(hex(letter) + glyph - hex(first)));
    }
  }
  return found;
}

function told(block: string, fonts: Map<string, Map<number, string>>): string {
  let font: Map<number, string> | undefined;
  let text = "";
  for (const [, name, glyphs] of block.matchAll(/\/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)>/g)) {
    if (name) font = fonts.get(name);
    for (const glyph of (glyphs ?? "").match(/.{4}/g) ?? []) text += font?.get(parseInt(glyph, 16)) ?? "";
  }
  return text;
}
