/** A text in three parts around a quote; without a match, all of it is `before`. */
export interface Highlighted {
  before: string;
  quote: string;
  after: string;
}

/** Finds a quote in a text whatever its line breaks and spaces, and whatever dots it was shortened with. */
export function highlight(text: string, quote: string | null): Highlighted {
  const words = (quote ?? "")
    .replace(/^[\s.…]+|[\s.…]+$/g, "")
    .split(/\s+/)
    .filter(Boolean);
  const match = words.length > 0 ? new RegExp(words.map(escape).join("\\s+"), "i").exec(text) : null;
  if (!match) return { before: text, quote: "", after: "" };
  const end = match.index + match[0].length;
  return { before: text.slice(0, match.index), quote: match[0], after: text.slice(end) };
}

function escape(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
