import type { Config } from "../config";
import { Store } from "../store";
import { challengeOf, claimsOf, randomText } from "./pkce";

/** OpenID Connect code flow with PKCE. Tokens live in memory and in this tab's sessionStorage, nowhere else. */

interface Tokens {
  accessToken: string;
  refreshToken: string | null;
  expiresAt: number;
}

interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
  returnTo: string;
}

export type SessionState = "signedOut" | "signedIn" | "failed" | "expired";

const TOKENS = "werkbank.tokens";
const PENDING = "werkbank.signIn";
const REFRESH_BEFORE_MS = 60_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class Session {
  readonly state = new Store<SessionState>("signedOut");
  readonly #config: Config;
  #tokens: Tokens | null = null;
  #refreshing: Promise<void> | null = null;
  #timer: number | undefined;

  constructor(config: Config) {
    this.#config = config;
  }

  /** Completes a sign-in that comes back from the issuer, or takes up the one this tab has. */
  async restore(): Promise<void> {
    const query = new URLSearchParams(location.search);
    if (query.has("code") || query.has("error")) return this.#complete(query);
    const stored = sessionStorage.getItem(TOKENS);
    if (stored) this.#adopt(JSON.parse(stored) as Tokens);
  }

  async signIn(): Promise<void> {
    const pending = { state: randomText(), nonce: randomText(), verifier: randomText(), returnTo: location.hash };
    sessionStorage.setItem(PENDING, JSON.stringify(pending satisfies PendingSignIn));
    const url = new URL(this.#config.authorizeUrl, location.origin);
    const parameters = {
      response_type: "code",
      client_id: this.#config.clientId,
      redirect_uri: this.#redirectUri,
      scope: this.#config.scope,
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await challengeOf(pending.verifier),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    location.assign(url);
  }

  signOut(): void {
    this.#forget("signedOut");
    const url = new URL(this.#config.logoutUrl, location.origin);
    url.searchParams.set("client_id", this.#config.clientId);
    // Cognito's name and the name of OpenID Connect RP-Initiated Logout for the same thing.
    url.searchParams.set("logout_uri", this.#redirectUri);
    url.searchParams.set("post_logout_redirect_uri", this.#redirectUri);
    location.assign(url);
  }

  /** A token that is good for the next request, or null when the user has to sign in again. */
  async accessToken(): Promise<string | null> {
    if (this.#tokens && this.#tokens.expiresAt - Date.now() < REFRESH_BEFORE_MS / 2) await this.refresh();
    return this.#tokens?.accessToken ?? null;
  }

  /** Fetches new tokens; many callers at once share one request. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  get #redirectUri(): string {
    return this.#config.redirectUri ?? `${location.origin}/`;
  }

  async #complete(query: URLSearchParams): Promise<void> {
    const pending = JSON.parse(sessionStorage.getItem(PENDING) ?? "null") as PendingSignIn | null;
    sessionStorage.removeItem(PENDING);
    history.replaceState(null, "", `/${pending?.returnTo ?? ""}`);
    const code = query.get("code");
    if (!pending || !code || query.get("state") !== pending.state) return this.#forget("failed");
    const body = {
      grant_type: "authorization_code",
      code,
      redirect_uri: this.#redirectUri,
      code_verifier: pending.verifier,
    };
    const answer = await this.#token(body).catch(() => null);
    if (!answer?.id_token || !this.#isOurs(answer.id_token, pending.nonce)) return this.#forget("failed");
    this.#adopt(tokensOf(answer, null));
  }

  /** PKCE already ties the code to this tab (RFC 9700, 2.1.1), so an issuer may leave the nonce out, but not alter it. */
  #isOurs(idToken: string, nonce: string): boolean {
    const claims = claimsOf(idToken);
    const audience = Array.isArray(claims.aud) ? claims.aud : [claims.aud];
    const isAnswer = claims.nonce === undefined || claims.nonce === nonce;
    return isAnswer && claims.iss === this.#config.issuer && audience.includes(this.#config.clientId);
  }

  async #refresh(): Promise<void> {
    const refreshToken = this.#tokens?.refreshToken;
    if (!refreshToken) return this.#forget("expired");
    const answer = await this.#token({ grant_type: "refresh_token", refresh_token: refreshToken });
    // No connection is no refusal: the tokens are kept and the next request tries again.
    if (answer) this.#adopt(tokensOf(answer, refreshToken));
    else this.#forget("expired");
  }

  /** The issuer's answer, or null when it refuses; rejects when it cannot be reached. */
  async #token(parameters: Record<string, string>): Promise<TokenAnswer | null> {
    const body = new URLSearchParams({ ...parameters, client_id: this.#config.clientId });
    const response = await fetch(new URL(this.#config.tokenUrl, location.origin), { method: "POST", body });
    if (response.status >= 500) throw new Error(`token: ${response.status}`);
    return response.ok ? ((await response.json()) as TokenAnswer) : null;
  }

  #adopt(tokens: Tokens): void {
    this.#tokens = tokens;
    sessionStorage.setItem(TOKENS, JSON.stringify(tokens));
    clearTimeout(this.#timer);
    const due = Math.max(tokens.expiresAt - Date.now() - REFRESH_BEFORE_MS, 1000);
    this.#timer = window.setTimeout(() => void this.refresh().catch(() => undefined), Math.min(due, LONGEST_TIMER_MS));
    this.state.set("signedIn");
  }

  #forget(state: SessionState): void {
    this.#tokens = null;
    clearTimeout(this.#timer);
    sessionStorage.removeItem(TOKENS);
    this.state.set(state);
  }
}

interface TokenAnswer {
  access_token: string;
  id_token?: string;
  refresh_token?: string;
  expires_in: number;
}

function tokensOf(answer: TokenAnswer, oldRefreshToken: string | null): Tokens {
  return {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token ?? oldRefreshToken,
    expiresAt: Date.now() + answer.expires_in * 1000,
  };
}
