// SPDX-License-Identifier: GPL-2.0-or-later
// Finds short names that distinguish traces.

// Returns each path's file name, with as many of its folders as necessary to distinguish it from the others.
export function tellingNames(paths: string[]): string[] {
  const parts = paths.map((path) => path.split('/').filter(Boolean));
  const tail = (at: number, length: number): string => parts[at].slice(-length).join('/') || paths[at];
  return paths.map((path, at) => {
    const others = paths.flatMap((other, number) => (other === path ? [] : [number]));
    let length = 1;
    while (length < parts[at].length && others.some((other) => tail(other, length) === tail(at, length))) ++length;
    return tail(at, length);
  });
}
