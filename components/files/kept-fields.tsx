/** The parameters that a page of files keeps, for its plain forms. */
import type { FilesPage } from './file-address.ts';

export function KeptFields({ place }: { place: FilesPage }) {
  return Object.entries(place.keep ?? {}).map(([name, value]) => (
    <input key={name} type="hidden" name={name} value={value} />
  ));
}
