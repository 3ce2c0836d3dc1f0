/** The index of a long page: a link to each of its parts, in sight while one reads. Plain links. */

/** `parts`: the `id` and the name of each section that the page has, in their order. */
export function PageIndex({ parts }: { parts: readonly (readonly [id: string, name: string])[] }) {
  return (
    <nav aria-label="On this page" className="page-index print:hidden">
      {parts.map(([id, name]) => (
        <a key={id} href={`#${id}`}>
          {name}
        </a>
      ))}
    </nav>
  );
}
