/** What `drizzle-kit generate --config db/drizzle.config.ts` needs to write a migration from the schema. */
import { defineConfig } from 'drizzle-kit';

export default defineConfig({ dialect: 'sqlite', schema: './db/schema.ts', out: './db/migrations' });
