/**
 * A rendered Markdown file. HTML in it stays text. Images load only from the same volume. Links lead to files beside
 * it, or are marked as external. Nothing in it can run.
 */
import Link from 'next/link';
import type { ReactNode } from 'react';
import ReactMarkdown, { type Components, defaultUrlTransform } from 'react-markdown';
import rehypeHighlight from 'rehype-highlight';
import remarkGfm from 'remark-gfm';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { bytesAddress, type FilesPage, fileAddress, linkedPath, type VolumeName } from './file-address.ts';
import { isImage } from './preview-kind.ts';

interface Within {
  place: FilesPage;
  volume: VolumeName;
  /** The path of the file. */
  path: string;
}

/** Headings of the file rank below those of the page. */
function heading(level: 3 | 4 | 5 | 6) {
  const Tag = `h${level}` as const;
  return function Heading({ children, id }: { children?: ReactNode; id?: string }) {
    return <Tag id={id}>{children}</Tag>;
  };
}

function componentsFor({ place, volume, path }: Within): Components {
  return {
    h1: heading(3),
    h2: heading(4),
    h3: heading(5),
    h4: heading(6),
    h5: heading(6),
    h6: heading(6),
    a({ href = '', children, id }) {
      if (href.startsWith('#')) {
        return (
          <a href={href} id={id}>
            {children}
          </a>
        );
      }
      const target = linkedPath(path, href);
      if (target !== null) {
        return (
          <Link href={fileAddress(place, volume, target)} prefetch={false} scroll={false}>
            {children}
          </Link>
        );
      }
      if (!/^(https?|mailto):/i.test(href)) return <span>{children}</span>;
      return (
        <a href={href} rel="noopener noreferrer nofollow external" target="_blank">
          {children}
          <span aria-hidden="true"> ↗</span>
        </a>
      );
    },
    img({ src, alt }) {
      const address = typeof src === 'string' ? src : '';
      const target = linkedPath(path, address);
      if (target !== null && isImage(target)) {
        return <img src={bytesAddress(place, volume, target)} alt={alt ?? ''} loading="lazy" />;
      }
      return (
        <span className="pill" title={address}>
          image: {alt || address || 'without a name'}
        </span>
      );
    },
    input: ({ checked }) => (
      <input type="checkbox" checked={checked === true} readOnly disabled aria-label={checked ? 'done' : 'to do'} />
    ),
    pre: ({ children }) => (
      <pre className="overflow-x-auto" {...SCROLLABLE}>
        {children}
      </pre>
    ),
    table: ({ children }) => (
      <div className="overflow-x-auto" {...SCROLLABLE}>
        <table>{children}</table>
      </div>
    ),
    th: ({ children }) => <th scope="col">{children}</th>,
    td: ({ children }) => <td>{children}</td>,
  };
}

export function Markdown({ text, ...within }: { text: string } & Within) {
  return (
    <div className="markdown px-5 py-4">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[[rehypeHighlight, { detect: false }]]}
        urlTransform={(url) => defaultUrlTransform(url)}
        components={componentsFor(within)}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}
