//! What is under way, under numbers that stay the same.

/// Values at places that stay the same and are used again.
pub(super) struct Table<T> {
    places: Vec<Option<T>>,
    pub(super) live: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { places: Vec::new(), live: 0 }
    }
}

impl<T> Table<T> {
    pub(super) fn insert(&mut self, value: T) -> usize {
        self.live += 1;
        match self.places.iter().position(Option::is_none) {
            Some(index) => {
                self.places[index] = Some(value);
                index
            }
            None => {
                self.places.push(Some(value));
                self.places.len() - 1
            }
        }
    }

    pub(super) fn get(&self, index: usize) -> &T {
        self.places[index].as_ref().expect("it is not removed yet")
    }

    pub(super) fn get_mut(&mut self, index: usize) -> &mut T {
        self.places[index].as_mut().expect("it is not removed yet")
    }

    pub(super) fn remove(&mut self, index: usize) -> T {
        self.live -= 1;
        self.places[index].take().expect("it is not removed yet")
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten()
    }
}
