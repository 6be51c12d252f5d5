mod corpus;
mod coverage;
mod lowering;
mod render;
