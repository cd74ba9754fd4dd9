import type { Citation } from "../api/types";
import { text } from "../i18n/language";

/** Where in its file a cited passage stands, in the page's language: `page 5`, `sheet Umsatz`. */
export function placeOf({ ref, place, fileName }: Citation): string {
  if (ref.pageIndex != null) return text("place.page", { n: ref.pageIndex });
  if (ref.slideIndex != null) return text("place.slide", { n: ref.slideIndex });
  if (ref.sheetName) return text("place.sheet", { name: ref.sheetName });
  return place.startsWith(fileName) ? place.slice(fileName.length).replace(/^,\s*/, "") : place;
}
