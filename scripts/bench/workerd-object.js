/**
 * What `workerd` serves in the bench: a Durable Object with SQLite that keeps one note. Plain JavaScript, as it runs.
 */
import { DurableObject } from 'cloudflare:workers';

export class Sandbox extends DurableObject {
  isFirst = true;

  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS file (path TEXT PRIMARY KEY, content TEXT NOT NULL)');
  }

  /** GET reads the note, PUT writes it. `x-first` tells whether the object was started by this request. */
  async fetch(request) {
    const headers = { 'x-first': String(this.isFirst) };
    this.isFirst = false;
    const { sql } = this.ctx.storage;
    if (request.method === 'PUT') {
      sql.exec('INSERT OR REPLACE INTO file VALUES (?, ?)', 'note', await request.text());
      return new Response('{}', { headers });
    }
    const [row] = sql.exec('SELECT content FROM file WHERE path = ?', 'note').toArray();
    return new Response(row?.content ?? '', { headers });
  }
}

export default {
  fetch(request, env) {
    return env.SANDBOX.get(env.SANDBOX.idFromName(new URL(request.url).pathname)).fetch(request);
  },
};
