/** How Next builds and serves the console. The engine is never bundled: pages meet it at the host object only. */
import type { NextConfig } from 'next';

const config: NextConfig = {
  poweredByHeader: false,
  agentRules: false,
  // Titles and descriptions belong in the head before anything else, also without JavaScript.
  htmlLimitedBots: /.*/,
  // `npm run check` type-checks everything once; a build does not do it again.
  typescript: { ignoreBuildErrors: true },
  // Writing what the next build could use takes more processor time than that build saves by it.
  experimental: { turbopackFileSystemCacheForBuild: false },
  serverExternalPackages: ['better-sqlite3', 'better-auth', 'drizzle-orm', 'just-bash', 'quickjs-emscripten', 'pino'],
};

export default config;
