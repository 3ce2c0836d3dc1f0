/** The configuration with which `npm run migration` runs drizzle-kit to write a migration from the schema. */
export default { dialect: 'sqlite', schema: './db/schema.ts', out: './db/migrations' };
