/** Routes of backups: when they are made, which are there, and what is brought back. */
import { z } from 'zod';
import {
  backupRestoreSchema,
  backupSchema,
  backupSettingsSchema,
  backupsQuerySchema,
  makeBackupSchema,
  putBackupSettingsSchema,
  restoreBackupSchema,
} from '../../contract/schema.ts';
import { listAnswer, route } from '../operation-route.ts';
import type { Route } from '../route.ts';

const tag = 'Backups';
const params = z.strictObject({ id: z.string().min(1).max(100) });

export const backupRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/backups',
    operation: 'listBackups',
    summary: 'Lists the backups that the server made, makes or failed to make, newest first.',
    tag,
    query: backupsQuerySchema,
    answers: { 200: listAnswer('A page of backups', backupSchema) },
  }),
  route({
    method: 'POST',
    path: '/backups',
    operation: 'makeBackup',
    summary: 'Makes a backup now, in the background. Refused while one is under way.',
    tag,
    body: makeBackupSchema,
    answers: { 202: { description: 'It is made as soon as its turn comes', schema: backupSchema } },
  }),
  route({
    method: 'GET',
    path: '/backups/:id',
    operation: 'getBackup',
    summary: 'Shows a backup: how far it is, what it would restore, when it was last tried.',
    tag,
    params,
    answers: { 200: { description: 'The backup', schema: backupSchema } },
  }),
  route({
    method: 'POST',
    path: '/backups/:id/verify',
    operation: 'verifyBackup',
    summary: 'Restores one drawn sandbox of it to a folder that is removed again, and compares the hashes.',
    tag,
    params,
    answers: { 200: { description: 'The backup, with what came of it', schema: backupSchema } },
  }),
  route({
    method: 'POST',
    path: '/backups/:id/restore',
    operation: 'restoreBackup',
    summary:
      'Brings one sandbox back, as itself or as a new one, while the server runs. With `dry_run` only says what it would do, for everything too.',
    tag,
    params,
    body: restoreBackupSchema,
    answers: { 200: { description: 'What was done, or would be', schema: backupRestoreSchema } },
  }),
  route({
    method: 'GET',
    path: '/settings/backups',
    operation: 'backupSettings',
    summary: 'Shows when and where backups are made, which are kept, and what is wrong with them.',
    tag,
    answers: { 200: { description: 'The settings', schema: backupSettingsSchema } },
  }),
  route({
    method: 'PUT',
    path: '/settings/backups',
    operation: 'putBackupSettings',
    summary: 'Changes when and where backups are made, and which are kept. A place is tried before it is taken.',
    tag,
    body: putBackupSettingsSchema,
    answers: { 200: { description: 'The settings as they are now', schema: backupSettingsSchema } },
  }),
];
