import type { UploadTarget } from "../api/types";

/** The upload was refused by the storage, broke off, or was cancelled. */
export class UploadFailed extends Error {}

const SET_BY_BROWSER = new Set(["host", "content-length"]);

/**
 * Sends a file straight to the storage. XMLHttpRequest, since fetch reports no upload progress.
 * `onProgress` gets the sent part, 0 to 1. Rejects with `UploadFailed`.
 */
export function putFile(
  target: UploadTarget,
  file: File,
  onProgress: (part: number) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = () => reject(new UploadFailed(`storage answered ${request.status}`));
    request.open(target.method, target.url);
    for (const [name, value] of Object.entries(target.headers)) {
      if (!SET_BY_BROWSER.has(name.toLowerCase())) request.setRequestHeader(name, value);
    }
    request.upload.onprogress = (event) => onProgress(event.total > 0 ? event.loaded / event.total : 1);
    request.onload = () => (request.status >= 200 && request.status < 300 ? resolve() : fail());
    request.onerror = fail;
    request.onabort = fail;
    if (signal.aborted) return fail();
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}
