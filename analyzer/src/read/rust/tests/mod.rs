mod corpus;
mod coverage;
mod lowering;
mod macros;
