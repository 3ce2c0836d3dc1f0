/** Imports a bundle or a VFS file as a new sandbox, for the form on the page of shares. */
import { importQuerySchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { parse } from '#lib/http/validate.ts';
import { keepFlash } from '../../flash.ts';
import { answerForm, readUpload, redirectTo } from '../../form-upload.ts';

export function POST(request: Request): Promise<Response> {
  return answerForm(request, '/shares?form=import#import', async (caller) => {
    const { fields, upload } = await readUpload(request);
    const given = Object.entries(fields)
      .map(([name, value]) => [name, value.trim()] as const)
      .filter(([name, value]) => value !== '' && name in importQuerySchema.shape);
    const query = parse(importQuerySchema, Object.fromEntries(given), 'form');
    const { id, imported } = await getHost().operations.importBundle(caller, query, upload, request.signal);
    if (imported.signed) return redirectTo(request, `/sandboxes/${id}`);
    const key = keepFlash(caller, { kind: 'unsigned-import', id, says: imported.notes.join(' ') });
    return redirectTo(request, `/shares?form=import&flash=${key}#import`);
  });
}
