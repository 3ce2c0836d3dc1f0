/** Imports a bundle or a VFS file as a new sandbox, for the form on the page of shares. */
import { importQuerySchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { parse } from '#lib/http/validate.ts';
import { answerForm, readUpload, redirectTo } from '../../form-upload.ts';

export function POST(request: Request): Promise<Response> {
  return answerForm(request, '/shares?form=import#import', async (caller) => {
    const { fields, upload } = await readUpload(request);
    const given = Object.entries(fields)
      .map(([name, value]) => [name, value.trim()] as const)
      .filter(([name, value]) => value !== '' && name in importQuerySchema.shape);
    const query = parse(importQuerySchema, Object.fromEntries(given), 'form');
    const { id } = await getHost().operations.importBundle(caller, query, upload, request.signal);
    return redirectTo(request, `/sandboxes/${id}`);
  });
}
