/** The former address of an archived sandbox at the support desk: every sandbox has one page. */
import { permanentRedirect } from 'next/navigation';
import { addressWith, type SearchParams, singleValues } from '../../search-params.ts';

export const dynamic = 'force-dynamic';

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function ArchivedSandbox({ params, searchParams }: Props): Promise<never> {
  const { id } = await params;
  permanentRedirect(addressWith(`/sandboxes/${encodeURIComponent(id)}`, singleValues(await searchParams)));
}
