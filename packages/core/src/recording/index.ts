// Placeholder until this folder has its code.
export const placeholder = true
