/** Browsers know no type for some text formats; the extractor chooses by it. */
const BY_EXTENSION: Record<string, string> = {
  md: "text/markdown",
  markdown: "text/markdown",
  csv: "text/csv",
  txt: "text/plain",
  log: "text/plain",
  json: "application/json",
  xml: "application/xml",
  eml: "message/rfc822",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};

/** The type by which a file is uploaded: known extensions win, since systems disagree about them (CSV as Excel). */
export function mimeTypeOf(file: Pick<File, "name" | "type">): string {
  const extension = file.name.split(".").at(-1)?.toLowerCase() ?? "";
  return BY_EXTENSION[extension] || file.type || "application/octet-stream";
}
