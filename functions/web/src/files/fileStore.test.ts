import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ApiClient } from "../api/client";
import type { FileItem, FileStatus } from "../api/types";
import type { RunEvent } from "../runs/events";
import { toasts } from "../ui/toasts";
import { FileStore } from "./fileStore";

const file = { id: "f1", fileName: "a.pdf", status: "pending", statusReason: null, tags: [], createdAt: "" };

function setUp() {
  const files = vi.fn(async () => [file as unknown as FileItem]);
  const createFile = vi.fn();
  const api = { files, folders: async () => [], createFile } as unknown as ApiClient;
  const store = new FileStore(api, () => 1_000);
  return { store, files, createFile };
}

function progress(seq: number, status: FileStatus, part: number): RunEvent {
  const data = { fileId: "f1", fileName: "a.pdf", status, progress: part, reason: null };
  return { runId: "index-1", seq, type: "indexProgress", at: "", data };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("FileStore", () => {
  it("follows an indexing run whose events come twice or too late", async () => {
    const { store } = setUp();
    await store.refresh();
    for (const event of [progress(1, "pending", 0), progress(3, "embedding", 0.8), progress(2, "extracted", 0.4)]) {
      store.receive(event);
      store.receive(event);
    }
    expect(store.state.get().files).toMatchObject([{ status: "embedding" }]);
    expect(store.state.get().indexing).toEqual({ f1: 0.8 });
    store.stop();
  });

  it("looks again by itself while a file is not settled: a pushed event may be lost", async () => {
    const { store, files } = setUp();
    await store.refresh();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(files).toHaveBeenCalledTimes(2);
    files.mockResolvedValue([{ ...file, status: "indexed" } as unknown as FileItem]);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(files).toHaveBeenCalledTimes(3);
  });

  it("refuses a file over the limit before anything is sent", () => {
    const { store, createFile } = setUp();
    toasts.set([]);
    store.upload([new File(["x".repeat(1_001)], "big.bin")], null);
    expect(createFile).not.toHaveBeenCalled();
    expect(store.state.get().uploads).toEqual([]);
    expect(toasts.get()).toMatchObject([{ title: expect.stringContaining("big.bin") as string }]);
  });
});
