import { beforeEach, describe, expect, it } from "vitest";
import { formatBytes, formatChf, formatDuration } from "./format";
import { language, text } from "./language";

beforeEach(() => language.set("en"));

describe("formats", () => {
  it("keeps telling digits of small amounts", () => {
    expect(formatChf("0")).toBe("CHF 0.00");
    expect(formatChf("0.00214")).toBe("CHF 0.0021");
    expect(formatChf("0.0000004")).toBe("CHF 0.00");
    expect(formatChf("12.5")).toBe("CHF 12.50");
  });

  it("writes sizes and durations as people do", () => {
    expect([0, 999, 1500, 52_428_800].map(formatBytes)).toEqual(["0 B", "999 B", "1.5 kB", "52 MB"]);
    expect([12, 4200, 61_000].map(formatDuration)).toEqual(["12 ms", "4.2 s", "1 min 1 s"]);
  });
});

describe("text", () => {
  it("fills in parameters in the chosen language", () => {
    expect(text("chat.round", { round: 2, max: 25 })).toBe("Round 2 of 25");
    language.set("de");
    expect(text("chat.round", { round: 2, max: 25 })).toBe("Runde 2 von 25");
  });
});
