import { describe, expect, it } from "vitest";
import { challengeOf, claimsOf, randomText } from "./pkce";

describe("PKCE", () => {
  it("gives the challenge of RFC 7636, appendix B", async () => {
    const challenge = await challengeOf("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    expect(challenge).toBe("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
  });

  it("makes verifiers of the allowed alphabet and length", () => {
    expect(randomText()).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(randomText()).not.toBe(randomText());
  });

  it("reads claims with letters beyond ASCII", () => {
    const payload = btoa(String.fromCharCode(...new TextEncoder().encode('{"name":"Zoë","nonce":"n"}')));
    expect(claimsOf(`x.${payload}.y`)).toEqual({ name: "Zoë", nonce: "n" });
  });
});
