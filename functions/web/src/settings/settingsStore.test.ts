import { beforeEach, describe, expect, it } from "vitest";
import type { ApiClient } from "../api/client";
import type { Settings } from "../api/types";
import { toasts } from "../ui/toasts";
import { SettingsStore } from "./settingsStore";

const settings = (own: boolean | null, mandate: boolean | null): Settings => ({
  webSearchEnabled: own ?? mandate ?? true,
  own: { webSearchEnabled: own },
  mandate: { webSearchEnabled: mandate },
  canSearchWeb: true,
});

function setUp(refuses = false) {
  const told = { own: null as boolean | null, mandate: null as boolean | null };
  const answer = async () => {
    if (refuses) throw new Error("refused");
    return settings(told.own, told.mandate);
  };
  const api = {
    preferences: answer,
    changePreferences: (own: boolean | null) => answer().finally(() => (told.own = own)),
    changeMandatePreferences: (mandate: boolean) => answer().finally(() => (told.mandate = mandate)),
  } as unknown as ApiClient;
  return new SettingsStore(api);
}

beforeEach(() => toasts.set([]));

describe("SettingsStore (WS-07)", () => {
  it("shows what the server says holds, not what was clicked", async () => {
    const store = setUp();
    await store.choose(false);
    expect(store.state.get()).toEqual(settings(null, null));
    await store.chooseForAll(false);
    expect(store.state.get()).toEqual(settings(false, null));
    await store.refresh();
    expect(store.state.get()).toEqual(settings(false, false));
  });

  it("keeps what held when a change is refused, and says so", async () => {
    const store = setUp(true);
    expect(await store.choose(false)).toBe(false);
    expect(store.state.get()).toBeNull();
    expect(toasts.get()).toHaveLength(1);
  });
});
