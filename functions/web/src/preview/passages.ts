import type { ContentObject } from "../api/types";

/** A block of a page: a paragraph, heading, table or list of Markdown, or what stands in for a picture. */
export interface Passage {
  key: string;
  text: string;
  /** What the file calls a picture, where there is no text. */
  label: string | null;
  cited: boolean;
}

/** A block with fewer letters than this says too little to be recognised by itself. */
const TELLING_LETTERS = 20;

/**
 * Splits a page into its blocks and finds those that a quote covers, whatever the spaces, line breaks and Markdown signs
 * between its words. A quote that begins or ends on another page is found block by block.
 */
export function passagesOf(objects: readonly ContentObject[], quote: string | null): Passage[] {
  const blocks = objects.flatMap((object) =>
    blocksOf(object.data).map((text) => ({ text, object })),
  );
  const letters = blocks.map((block) => lettersOf(block.text));
  const sought = lettersOf(quote ?? "");
  const start = sought ? letters.join("").indexOf(sought) : -1;
  let end = 0;
  return blocks.map(({ text, object }, index) => {
    const own = letters[index] ?? "";
    const begin = end;
    end += own.length;
    const isWithin = begin < start + sought.length && end > start;
    const isKnown = own.length >= TELLING_LETTERS && sought.includes(own);
    const label = object.ref.label ?? null;
    return { key: `${object.sequence}/${index}`, text, label, cited: start >= 0 ? isWithin : isKnown };
  });
}

/** Blocks are parted by blank lines; an object without text (a picture) is one empty block. */
function blocksOf(markdown: string): string[] {
  const blocks = markdown.split(/\n\s*\n/).filter((block) => block.trim());
  return blocks.length > 0 ? blocks : [""];
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}
