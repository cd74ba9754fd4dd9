/** A failure in words for the user: what happened and what to do. Built from RFC 9457 problem documents. */
export class Problem extends Error {
  readonly title: string;
  readonly detail: string;
  /** HTTP status, 0 when there was no answer at all. */
  readonly status: number;

  constructor(title: string, detail: string, status = 0) {
    super(`${title}: ${detail}`);
    this.title = title;
    this.detail = detail;
    this.status = status;
  }
}

/** Reads a failed response; an answer that is no problem document still says its status. */
export async function problemOf(response: Response, fallbackTitle: string, fallbackDetail: string): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null);
  return problemFrom(body, response.status, fallbackTitle, fallbackDetail);
}

export function problemFrom(body: unknown, status: number, fallbackTitle: string, fallbackDetail: string): Problem {
  const fields = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const title = typeof fields.title === "string" && fields.title ? fields.title : fallbackTitle;
  const detail = typeof fields.detail === "string" && fields.detail ? fields.detail : fallbackDetail;
  return new Problem(title, detail, status);
}
