// SPDX-License-Identifier: GPL-2.0-or-later
// Switches, selections and fields. Each has a name, so that it can get the focus back after a page is redrawn.
import { el } from './dom';

export interface Choice<Value extends string> {
  value: Value;
  title: string;
  help?: string;
}

// Returns null if there is only one choice.
export function segmented<Value extends string>(
  name: string,
  label: string,
  choices: Choice<Value>[],
  chosen: Value,
  choose: (value: Value) => void,
): HTMLElement | null {
  if (choices.length < 2) return null;
  return el(
    'div',
    { class: 'segmented', role: 'group', 'aria-label': label },
    el('span', { class: 'label', 'aria-hidden': 'true' }, label),
    ...choices.map((choice) =>
      el(
        'button',
        {
          type: 'button',
          'aria-pressed': choice.value === chosen ? 'true' : 'false',
          'data-focus': `${name}-${choice.value}`,
          title: choice.help,
          click: () => choose(choice.value),
        },
        choice.title,
      ),
    ),
  );
}

export function selection<Value extends string>(
  name: string,
  label: string,
  choices: Choice<Value>[],
  chosen: Value,
  choose: (value: Value) => void,
): HTMLElement {
  const select = el(
    'select',
    { 'data-focus': name, change: () => choose(select.value as Value) },
    ...choices.map((choice) => el('option', { value: choice.value, selected: choice.value === chosen }, choice.title)),
  );
  return el('label', { class: 'field' }, el('span', { class: 'label' }, label), select);
}

export function textField(
  name: string,
  label: string,
  value: string,
  change: (value: string) => void,
  isSearch = false,
): HTMLElement {
  const input = el('input', {
    type: 'search',
    value,
    spellcheck: 'false',
    autocomplete: 'off',
    'data-focus': name,
    'data-search': isSearch,
    placeholder: isSearch ? `${label} ( / )` : label,
    'aria-label': label,
    input: () => change(input.value),
  });
  return el('div', { class: 'field' }, input);
}

export function action(name: string, title: string, act: () => void, help?: string): HTMLElement {
  return el('button', { type: 'button', class: 'action', 'data-focus': name, title: help, click: act }, title);
}

// A text that says why something cannot be shown.
export function empty(reason: string): HTMLElement {
  return el('p', { class: 'empty' }, reason);
}

export function note(...text: (string | Node)[]): HTMLElement {
  return el('p', { class: 'note' }, ...text);
}

export function section(title: string, ...children: (Node | string | null | false)[]): HTMLElement {
  return el('section', { 'aria-label': title }, el('h2', {}, title), ...children);
}
