/** The workspace of a session as tar.gz, out and in. */
import { randomUUID } from 'node:crypto';
import { parseVfsPath } from '../../vfs/paths.ts';
import { attachmentHeaders, checkoutAnswer, empty, json } from '../answer.ts';
import type { Route } from '../route.ts';
import { refused, sessionOf } from './session.ts';
import { ongoing, sessionParams, sessionRoute } from './session-route.ts';

/** Longest part of the errors of `tar` that an answer repeats: their end. */
const ERROR_LENGTH = 2_000;

export const WORKSPACE_ROUTES: readonly Route[] = [
  sessionRoute({
    method: 'GET',
    path: '/sessions/:id/workspace',
    operation: 'checkout',
    params: sessionParams,
    async handle(context) {
      const { services, caller, params, head, signal } = context;
      await ongoing(context);
      const headers = attachmentHeaders('application/gzip', `${params.id}.tar.gz`);
      if (head) return empty(200, headers);
      return checkoutAnswer(await services.operations.checkout(caller, params.id, signal), headers);
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
      await ongoing(context);
      if (body.length === 0) return refused(400, 'The body is the workspace as tar.gz.');
      const archive = parseVfsPath(`/workspace-${randomUUID()}.tar.gz`);
      await services.operations.putFile(caller, params.id, 'tmp', archive, body);
      // Unpacked by the sandbox itself, behind its wall: an archive names any path that it likes.
      const command = `tar -xzf "/tmp$ARCHIVE" -C /workspace; ended=$?; rm "/tmp$ARCHIVE"; exit $ended`;
      const input = { command, cwd: '/workspace', env: { ARCHIVE: archive } };
      const { exit_code, stderr } = await services.operations.exec(caller, params.id, input, { signal });
      if (exit_code !== 0)
        return refused(400, `The archive could not be unpacked: ${stderr.slice(-ERROR_LENGTH).trim()}`);
      return json(200, { session: sessionOf(await services.operations.getInstance(caller, params.id)) });
    },
  }),
];
