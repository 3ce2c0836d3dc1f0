/** What `npm run migration` has drizzle-kit read, to write a migration from the schema. */
export default { dialect: 'sqlite', schema: './db/schema.ts', out: './db/migrations' };
