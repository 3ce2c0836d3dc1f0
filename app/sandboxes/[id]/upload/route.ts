/** Takes one file from a plain form, for a browser without scripts. */
import { fileAddress } from '#components/files/file-address.ts';
import { isWinterdockError, WinterdockError } from '#lib/base/errors.ts';
import { isInstanceId } from '#lib/base/ids.ts';
import { getHost } from '#lib/host/host.ts';
import { unknownId } from '#lib/operations/unknown-id.ts';
import { parseVfsPath } from '#lib/vfs/paths.ts';
import { parseVolume } from '#lib/vfs/volumes.ts';
import { answerForm, readUpload, redirectTo } from '../../../form-upload.ts';

export async function POST(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  const { id } = await params;
  const place = { id: encodeURIComponent(id) };
  return answerForm(request, `/sandboxes/${place.id}#inside`, async (caller) => {
    if (!isInstanceId(id)) throw unknownId('instance', id);
    const { fields, fileName, upload } = await readUpload(request);
    const { config, operations } = getHost();
    const volume = parseVolume(fields.volume ?? '');
    const name = (fileName ?? '').replace(/^.*[\\/]/s, '');
    if (name === '') throw new WinterdockError('validation', 'No file was chosen.');
    const path = parseVfsPath(`${fields.folder ?? '/'}${name}`);
    const content = await upload.bytes(config.maxFileBytes);
    try {
      const condition = fields.replace === '1' ? undefined : { ifNoneMatch: '*' };
      await operations.putFile(caller, id, volume, path, content, condition);
    } catch (error) {
      if (!isWinterdockError(error) || error.code !== 'precondition_failed') throw error;
      throw new WinterdockError('conflict', `There is a file "${name}" there already. Nothing was written.`, {
        hint: 'Tick “Replace a file of that name” and send it again.',
      });
    }
    return redirectTo(request, fileAddress(place, volume, path));
  });
}
