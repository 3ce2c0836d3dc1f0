/** Takes a bundle or a VFS file in as a new sandbox, as the form on the page of shares sends it. */
import { importQuerySchema } from '#lib/api/schema.ts';
import { parse } from '#lib/api/validate.ts';
import { getHost } from '#lib/host.ts';
import { leadBack, leadTo, postedBy, uploadIn } from '../../posted.ts';

const PAGE = '/shares?form=import';

export async function POST(request: Request): Promise<Response> {
  const caller = await postedBy('/shares');
  try {
    const { fields, upload } = await uploadIn(request);
    const given = Object.entries(fields).filter(
      ([name, value]) => value.trim() !== '' && name in importQuerySchema.shape,
    );
    const query = parse(
      importQuerySchema,
      Object.fromEntries(given.map(([name, value]) => [name, value.trim()])),
      'query',
    );
    const { id } = await getHost().operations.importBundle(caller, query, upload, request.signal);
    return leadTo(request, `/sandboxes/${id}`);
  } catch (error) {
    return leadBack(request, caller, `${PAGE}#import`, error);
  }
}
