// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes base64(gzip(JSON)) to the document.
import type { PageDocument } from './document';

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; ++at) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

export async function decode(text: string): Promise<PageDocument> {
  const packed = bytesOfBase64(text.trim());
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const document = JSON.parse(await new Response(stream).text()) as PageDocument;
  if (document.schema !== 'kmemtrace.html/1') throw new Error('the data and the page have different versions');
  return document;
}
