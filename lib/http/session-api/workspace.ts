/** The workspace of a session as tar.gz, out and in. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { parseVfsPath } from '../../vfs/paths.ts';
import { attachmentHeaders, checkoutAnswer, empty, json } from '../answer.ts';
import type { Route } from '../route.ts';
import { refused, sessionOf } from './session.ts';
import { sessionIdOf } from './session-id.ts';
import { inUse, sessionParams, sessionRoute, withWorkspace } from './session-route.ts';

/** Longest part of the errors of `tar` that an answer repeats: their end. */
const ERROR_LENGTH = 2_000;

const bundleSchema = z.object({ bundle: z.base64().min(1) });
/** The first byte of every gzip; no JSON begins with it. */
const GZIP = 0x1f;

/** The archive of a body: the body itself, or what its JSON holds; null for neither. */
function bundleIn(body: Uint8Array): Uint8Array | null {
  if (body.length === 0 || body[0] === GZIP) return body.length === 0 ? null : body;
  try {
    return Buffer.from(bundleSchema.parse(JSON.parse(Buffer.from(body).toString('utf8'))).bundle, 'base64');
  } catch {
    return null;
  }
}

export const WORKSPACE_ROUTES: readonly Route[] = [
  sessionRoute({
    method: 'GET',
    path: '/sessions/:id/workspace',
    operation: 'checkout',
    params: sessionParams,
    async handle(context) {
      const { services, caller, params, head, signal } = context;
      await withWorkspace(context);
      const headers = attachmentHeaders('application/gzip', `${sessionIdOf(params.id)}.tar.gz`);
      if (head) return empty(200, headers);
      return checkoutAnswer(await services.operations.checkout(caller, params.id, signal, { plain: true }), headers);
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/sessions/:id/workspace',
    operation: 'exec',
    params: sessionParams,
    body: 'bytes',
    async handle(context) {
      const { services, caller, params, body, signal } = context;
      await inUse(context, await withWorkspace(context));
      const packed = bundleIn(body);
      if (packed === null) return refused(400, 'The body is the workspace as tar.gz, or JSON: {"bundle": its base64}.');
      const archive = parseVfsPath(`/workspace-${randomUUID()}.tar.gz`);
      await services.operations.putFile(caller, params.id, 'tmp', archive, packed);
      // Unpacked by the sandbox itself, behind its wall: an archive names any path that it likes.
      const command = `tar -xzf "/tmp$ARCHIVE" -C /workspace; ended=$?; rm "/tmp$ARCHIVE"; exit $ended`;
      const input = { command, cwd: '/workspace', env: { ARCHIVE: archive } };
      const { exit_code, stderr } = await services.operations.exec(caller, params.id, input, { signal });
      if (exit_code !== 0)
        return refused(400, `The archive could not be unpacked: ${stderr.slice(-ERROR_LENGTH).trim()}`);
      const message = 'The workspace was unpacked.';
      return json(200, { message, session: sessionOf(await services.operations.getInstance(caller, params.id)) });
    },
  }),
];
