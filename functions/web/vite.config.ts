import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  build: {
    // Everything ends up as a file under /assets: a strict Content-Security-Policy needs no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // light-dark(), field-sizing and popover are used as they are.
    cssTarget: ["chrome123", "firefox125", "safari17.5"],
  },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
