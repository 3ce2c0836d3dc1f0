/** How Next builds and serves the console. The engine is never bundled: pages meet it at the host object only. */
import type { NextConfig } from 'next';

const securityHeaders = [
  { key: 'X-Content-Type-Options', value: 'nosniff' },
  { key: 'Referrer-Policy', value: 'same-origin' },
  { key: 'Content-Security-Policy', value: "frame-ancestors 'none'; base-uri 'self'; object-src 'none'" },
  { key: 'X-Frame-Options', value: 'DENY' },
  { key: 'Permissions-Policy', value: 'camera=(), microphone=(), geolocation=()' },
];

const config: NextConfig = {
  poweredByHeader: false,
  agentRules: false,
  // Titles and descriptions belong in the head before anything else, also without JavaScript.
  htmlLimitedBots: /.*/,
  // `npm run check` type-checks everything once; a build does not do it again.
  typescript: { ignoreBuildErrors: true },
  serverExternalPackages: ['better-sqlite3', 'better-auth', 'drizzle-orm', 'just-bash', 'quickjs-emscripten', 'pino'],
  headers: async () => [{ source: '/:path*', headers: securityHeaders }],
};

export default config;
