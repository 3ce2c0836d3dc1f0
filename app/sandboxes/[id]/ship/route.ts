/** Ships a sandbox for the forms in its Shares tab: answers with the bundle as a download. */
import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { WinterdockError } from '#lib/base/errors.ts';
import { isInstanceId } from '#lib/base/ids.ts';
import { getHost } from '#lib/host/host.ts';
import { unknownId } from '#lib/operations/unknown-id.ts';
import { answerForm, readFields } from '../../../form-upload.ts';

export async function POST(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  const { id } = await params;
  return answerForm(request, `/sandboxes/${encodeURIComponent(id)}?tab=shares#parts`, async (caller) => {
    if (!isInstanceId(id)) throw unknownId('instance', id);
    const fields = await readFields(request);
    const everything = fields.get('everything') === '1';
    if (everything && fields.get('understood') !== '1') {
      throw new WinterdockError('validation', 'Nothing was shipped: memory and tmp would have left with it.', {
        hint: 'Tick the box beside the button to say that this is meant.',
      });
    }
    const { share, outgoing } = await getHost().operations.ship(
      caller,
      id,
      { include_private: everything },
      request.signal,
    );
    const headers: Record<string, string> = {
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="${share.instance}.wbundle.zip"`,
      'cache-control': 'no-store',
      'x-share': share.id,
    };
    if (outgoing.bytes !== null) headers['content-length'] = String(outgoing.bytes);
    return new Response(Readable.toWeb(outgoing.stream) as WebStream as ReadableStream, { headers });
  });
}
