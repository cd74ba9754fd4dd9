/** What the deployment tells the page: where to sign in. Served as `/config.json`. */
export interface Config {
  issuer: string;
  clientId: string;
  authorizeUrl: string;
  tokenUrl: string;
  logoutUrl: string;
  scope: string;
  redirectUri?: string;
}

export async function loadConfig(): Promise<Config> {
  const response = await fetch("/config.json", { cache: "no-store" });
  if (!response.ok) throw new Error(`config.json: ${response.status}`);
  return (await response.json()) as Config;
}
