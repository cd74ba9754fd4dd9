/** A call's arguments, ready to be read. */
export function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** The argument values in one line: enough to see what the step is about. */
export function briefly(json: string): string {
  try {
    const values = Object.values(JSON.parse(json) as Record<string, unknown>);
    return values.filter((value) => typeof value === "string" || typeof value === "number").join(" · ");
  } catch {
    return json;
  }
}
