"""``python -m heedful``, also under torchrun: ``torchrun --nproc-per-node=2 -m heedful train …``."""

from heedful.cli import main

if __name__ == "__main__":
    main()
